-- Machine code made at run time that calls the planned sites: hot loops, and a callback from C.
local ffi = require("ffi")
ffi.cdef [[
void* near_make(size_t); void* left_make(size_t); void* between(size_t); void release_block(void*);
void qsort(void*, size_t, size_t, int (*)(const void*, const void*));
]]
local sites = ffi.load(arg[1])
sites.release_block(sites.between(32)) -- the runtime has scanned the new module by now
local rounds = tonumber(arg[2])
for _ = 1, rounds do
  sites.release_block(sites.near_make(32))
  sites.release_block(sites.left_make(32))
  sites.release_block(sites.between(32))
end
local called = 0
local values = ffi.new("int[64]")
for i = 0, 63 do values[i] = i * 37 % 64 end
local compare = ffi.cast("int (*)(const void*, const void*)", function(a, b)
  sites.release_block(sites.left_make(32))
  called = called + 1
  return ffi.cast("const int*", a)[0] - ffi.cast("const int*", b)[0]
end)
ffi.C.qsort(values, 64, 4, compare)
local sorted = true
for i = 0, 63 do sorted = sorted and values[i] == i end
print(rounds, called, sorted)
