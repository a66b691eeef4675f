// Takes records out of the rings, translates sites to numbers, and passes blocks to the output.
#pragma once

#include <cstdint>

#include "tracing/format/packing.h"
#include "tracing/library/code_map.h"
#include "tracing/library/module_table.h"
#include "tracing/library/output/output.h"
#include "tracing/library/ring.h"

namespace halo::logging {

// Used by one thread at a time.
class Emptying {
 public:
  // Resets the state and opens the output. Returns false if that failed; nothing is written then.
  bool begin(Output* output);

  // Runs one round. `last`: no round follows, so unfinished records are skipped.
  void round(uint64_t limit_key, bool last);
  void end(trace::Ending ending, uint32_t detail);
  bool continue_after_end();

  // Whether the output has failed, and the errno.
  bool failed() const { return failed_; }
  uint32_t error() const { return error_; }

 private:
  bool empty(Ring& ring, bool last);
  void take_records(Ring& ring, char* segment, bool last);
  bool skip_unwritten(Ring& ring, const Logged* unwritten, bool last);
  bool translate_cached(const Logged& record, uint64_t site, Logged& result) const;
  bool translate(Ring& ring, const Logged& record, Logged& result);
  bool keep_marker(Ring& ring, const Logged& record);
  LoggedModule* find_module(uint64_t site, uint64_t epoch);
  uint64_t number_of(uint64_t site, uint64_t epoch);
  void write_modules();
  void write_module(LoggedModule& module);
  void inspect_code();
  void emit(const Ring& ring, uint64_t count);
  void free_segment(Ring& ring);
  void recycle(Ring& ring);
  void check(bool ok);

  Output* output_ = nullptr;
  bool failed_ = false;
  uint32_t error_ = 0;
  uint64_t lost_ = 0;
  uint64_t last_limit_ = 0;  // key of the last round
  uint64_t next_site_ = 0;
  const LoggedModule* last_module_ = nullptr;
  int64_t refreshed_at_ = 0;  // time of the last read of the mappings, in milliseconds
  CodeMap code_;
};
static_assert(kRecords < trace::Packer::kMaxEvents);

}  // namespace halo::logging
