// Finds mappings of files, and the segments in them that contain code.
#include "recorder/contexts/code/live_code.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "recorder/contexts/code/elf_image.h"

namespace halo::record {

namespace {

// The headers and notes of a file are at its start.
constexpr uint64_t kMaxHeaderBytes = 256 * 1024;

class ProcessMemory {
 public:
  explicit ProcessMemory(pid_t process)
      : file_(open(("/proc/" + std::to_string(process) + "/mem").c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~ProcessMemory() { close(file_); }
  ProcessMemory(const ProcessMemory&) = delete;
  ProcessMemory& operator=(const ProcessMemory&) = delete;

  // Reads as much of the range as possible.
  std::vector<uint8_t> read(AddressRange range) const {
    std::vector<uint8_t> bytes(std::min(range.end - range.begin, kMaxHeaderBytes));
    const ssize_t got = pread(file_, bytes.data(), bytes.size(), off_t(range.begin));
    bytes.resize(got > 0 ? size_t(got) : 0);
    return bytes;
  }

 private:
  const int file_;
};

// The kernel may merge a file's mappings into one line, whatever their rights, so the segments
// determine which part is code.
void visit_code(const MapsLine& line, const ElfImage& image, bool of_recorder,
                const CodeVisitor& visit) {
  const uint64_t line_end = line.file_offset + (line.range.end - line.range.begin);
  for (const Elf64_Phdr& segment : image.segments()) {
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_X) == 0) continue;
    const uint64_t begin = std::max(segment.p_offset, line.file_offset);
    const uint64_t end = std::min(segment.p_offset + segment.p_filesz, line_end);
    if (begin >= end) continue;
    const uint64_t to_address = line.range.begin - line.file_offset;
    visit({.range = {begin + to_address, end + to_address},
           .first_vaddr = begin - segment.p_offset + segment.p_vaddr,
           .path = std::string(line.path),
           .inode = line.inode,
           .build_id = image.build_id(),
           .of_recorder = of_recorder});
  }
}

}  // namespace

void for_each_live_code(pid_t process, bool (*of_recorder)(const MapsLine&),
                        const CodeVisitor& visit) {
  const ProcessMemory memory(process);
  MapsLine first;  // the latest mapping of a file's start
  std::string first_path;
  std::optional<ElfImage> image;
  for_each_mapping(process, [&](const MapsLine& line) {
    if (line.inode == 0 || !line.path.starts_with('/')) return;
    if (line.file_offset == 0 && line.readable) {
      first = line;
      first_path = line.path;
      image.reset();
    }
    if (first.inode != line.inode || first_path != line.path || !line.readable) return;
    if (!image) image.emplace(memory.read(first.range));
    visit_code(line, *image, of_recorder(line), visit);
  });
}

}  // namespace halo::record
