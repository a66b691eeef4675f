// `file:PATH`: the trace as a file that always ends with a whole frame.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <algorithm>

#include "tracing/library/output/descriptor.h"
#include "tracing/library/output/frame_output.h"
#include "tracing/library/output/new_file.h"

namespace halo::logging {

namespace {

class FileOutput final : public FrameOutput {
 public:
  bool set_path(const char* path) { return new_file_.set_path(path); }

  bool end(trace::EndNote& note) override;
  bool continue_after_end() override { return cut_to(end_); }
  bool begin_in_child() override;

 protected:
  bool open() override;
  bool put(const void* bytes, size_t count) override;
  void frame_done(uint64_t events) override;

 private:
  struct Frame {
    off_t begin;
    uint64_t events;
  };

  bool cut_to(off_t bytes);

  NewFile new_file_;
  Descriptor descriptor_;
  off_t bytes_ = 0;  // bytes written
  off_t end_ = 0;    // end of the last whole frame
  // The last frames: they are dropped if no other room is left for the end note.
  static constexpr size_t kMaxLastFrames = 64;
  Frame frames_[kMaxLastFrames]{};
  size_t frame_count_ = 0;
};

bool FileOutput::open() {
  descriptor_.hold(new_file_.create());
  return descriptor_.number() >= 0;
}

// By pwrite: a forked child that has inherited the descriptor does not move the offset.
bool FileOutput::put(const void* bytes, size_t count) {
  if (!descriptor_.is_ours()) return false;
  const char* at = static_cast<const char*>(bytes);
  while (count != 0) {
    const ssize_t done = pwrite(descriptor_.number(), at, count, bytes_);
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) {
      if (done == 0) errno = ENOSPC;
      return false;
    }
    at += done;
    count -= size_t(done);
    bytes_ += done;
  }
  return true;
}

void FileOutput::frame_done(uint64_t events) {
  frames_[frame_count_++ % kMaxLastFrames] = {end_, events};
  end_ = bytes_;
}

bool FileOutput::cut_to(off_t bytes) {
  if (!descriptor_.is_ours() || ftruncate(descriptor_.number(), bytes) != 0) return false;
  bytes_ = end_ = bytes;
  return true;
}

// If the end note does not fit, the last frames are dropped to make room.
bool FileOutput::end(trace::EndNote& note) {
  const off_t whole = end_;
  size_t left = std::min(frame_count_, kMaxLastFrames);
  off_t keep = end_;
  note.lost += dropped_;
  for (;;) {
    if (bytes_ != keep && !cut_to(keep)) return false;
    note.written = written_;
    if (end_frame(note)) break;
    if (left-- == 0 || keep == 0) return false;
    const Frame& frame = frames_[--frame_count_ % kMaxLastFrames];
    keep = frame.begin;
    written_ -= frame.events;
    note.lost += frame.events;
  }
  end_ = keep;
  if (keep != whole) frame_count_ = 0;
  return true;
}

bool FileOutput::begin_in_child() {
  descriptor_.close();
  bytes_ = end_ = 0;
  frame_count_ = 0;
  reset();
  new_file_.is_taken();
  return true;
}

constinit FileOutput output;

}  // namespace

Output* make_file_output(const char* argument) {
  return output.set_path(argument) ? &output : nullptr;
}

}  // namespace halo::logging
