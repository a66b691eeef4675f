// Changes single bytes of code that is mapped read-only.
#pragma once

#include <cstdint>

namespace halo::runtime {

// Writes through the kernel's view of the process's memory, as a debugger does: no page is ever
// writable to the program or not executable, mappings keep their files, and other threads may run
// the code meanwhile, as one byte changes at a time. The page becomes the process's own.
class CodeWriter {
 public:
  CodeWriter() = default;
  CodeWriter(const CodeWriter&) = delete;
  CodeWriter& operator=(const CodeWriter&) = delete;
  ~CodeWriter();

  // False where the system forbids it: nothing has changed then. Keeps errno.
  bool write(const std::uint8_t* at, std::uint8_t value);

 private:
  int memory_ = -1;  // opened by the first write
};

}  // namespace halo::runtime
