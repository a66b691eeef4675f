// The program's path, arguments and build-id, from the kernel.
#include "tracing/library/metadata.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "tracing/library/elf_notes.h"

namespace halo::logging {

namespace {

void print_arguments(Text& text) {
  Text line;
  const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  char part[4096];
  for (ssize_t count; file >= 0 && (count = read(file, part, sizeof part)) > 0;)
    line.add({part, size_t(count)});
  if (file >= 0) close(file);
  std::string_view left = line.view();
  text.add("[");
  for (bool first = true; !left.empty(); first = false) {
    const std::string_view argument = left.substr(0, left.find('\0'));
    if (!first) text.add(",");
    text.quote(argument);
    left.remove_prefix(argument.size() < left.size() ? argument.size() + 1 : left.size());
  }
  text.add("]");
}

}  // namespace

void print_metadata(Text& text) {
  char path[PATH_MAX];
  const ssize_t length = readlink("/proc/self/exe", path, sizeof path);
  // The program headers lie behind the ELF header, on its page.
  const ElfNotes notes(getauxval(AT_PHDR) & ~uint64_t{4095});
  text.add(R"({"format":"halo-trace","version":1,"producer":"llvm","pid":)");
  text.add_number(uint64_t(getpid()));
  text.add(R"(,"program":)");
  text.quote({path, size_t(length > 0 ? length : 0)});
  text.add(R"(,"args":)");
  print_arguments(text);
  text.add(R"(,"build_id":)");
  text.quote(notes.build_id());
  text.add("}");
}

}  // namespace halo::logging
