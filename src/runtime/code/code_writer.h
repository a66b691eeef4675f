// Changes single bytes of code that is mapped read-only.
#pragma once

#include <cstdint>

namespace halo::runtime {

// Writes through /proc/self/mem, as a debugger does. No page becomes writable to the program or
// loses its execute permission, and mappings keep their files. Other threads may run the code
// meanwhile, since one byte changes at a time. The written page becomes private to the process.
class CodeWriter {
 public:
  CodeWriter() = default;
  CodeWriter(const CodeWriter&) = delete;
  CodeWriter& operator=(const CodeWriter&) = delete;
  ~CodeWriter();

  // Returns false if the system refuses the write; nothing has changed then. Keeps errno.
  bool write(const uint8_t* at, uint8_t value);

 private:
  int memory_ = -1;  // opened by the first write
};

}  // namespace halo::runtime
