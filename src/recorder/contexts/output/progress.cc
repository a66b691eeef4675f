// Updates the progress file through a shared mapping.
#include "recorder/contexts/output/progress.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace halo::record {

ProgressFile::ProgressFile(const std::string& path) {
  if (path.empty()) return;
  const int file = open(path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) return;
  if (ftruncate(file, sizeof(Progress)) == 0) {
    void* at = mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (at != MAP_FAILED) mapped_ = static_cast<Progress*>(at);
  }
  close(file);
}

void ProgressFile::update(uint64_t objects, uint64_t accesses, uint64_t instructions,
                          uint64_t elapsed_ns) {
  if (mapped_ == nullptr) return;
  mapped_->objects = objects;
  mapped_->accesses = accesses;
  mapped_->instructions = instructions;
  mapped_->elapsed_ns = elapsed_ns;
  mapped_->magic = Progress::kMagic;
}

}  // namespace halo::record
