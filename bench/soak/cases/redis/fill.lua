-- Commands of every type on keys of a few thousand; ARGV: how many, and the numbers' seed.
local count, state = tonumber(ARGV[1]), tonumber(ARGV[2])
local function draw(limit)
  state = (state * 16807) % 2147483647
  return state % limit
end
local function text() return string.rep(string.char(97 + draw(26)), 1 + draw(draw(10) == 0 and 900 or 40)) end
local kinds = {
  function(k) redis.call('SET', 's' .. k, text()) end,
  function(k) redis.call('APPEND', 's' .. k, text()) end,
  function(k) redis.call('SETRANGE', 's' .. k, draw(300), text()) end,
  function(k) redis.call('INCRBY', 'n' .. k, draw(1000)) end,
  function(k) redis.call('HSET', 'h' .. k % 300, text(), text(), 'f' .. draw(600), draw(99)) end,
  function(k) redis.call('HDEL', 'h' .. k % 300, 'f' .. draw(600)) end,
  function(k) redis.call('RPUSH', 'l' .. k % 200, text(), draw(1000), text()) end,
  function(k) redis.call('LPOP', 'l' .. k % 200) end,
  function(k) redis.call('LINSERT', 'l' .. k % 200, 'BEFORE', draw(1000), text()) end,
  function(k) redis.call('SADD', 'e' .. k % 200, draw(5000), text()) end,
  function(k) redis.call('SREM', 'e' .. k % 200, draw(5000)) end,
  function(k) redis.call('SINTERSTORE', 'i' .. k % 50, 'e' .. draw(200), 'e' .. draw(200)) end,
  function(k) redis.call('ZADD', 'z' .. k % 100, draw(100000), text(), draw(9), 'm' .. draw(900)) end,
  function(k) redis.call('ZREM', 'z' .. k % 100, 'm' .. draw(900)) end,
  function(k) redis.call('ZREMRANGEBYRANK', 'z' .. k % 100, 60, 70) end,
  function(k) redis.call('PFADD', 'p' .. k % 20, draw(100000)) end,
  function(k) redis.call('SETBIT', 'b' .. k % 50, draw(20000), draw(2)) end,
  function(k) redis.call('XADD', 'x' .. k % 20, 'MAXLEN', '500', '1-' .. draw(2000000000), 'f', text()) end,
  function(k) redis.call('COPY', 's' .. k, 's' .. draw(3000), 'REPLACE') end,
  function(k) redis.call('DEL', 's' .. k, 'h' .. draw(900)) end,
}
for i = 1, count do
  local kind = kinds[1 + draw(#kinds)]
  pcall(kind, draw(3000))
end
return redis.call('DBSIZE')
