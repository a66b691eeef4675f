// Takes records out of the rings, turns sites into numbers, and hands blocks to the output.
#pragma once

#include <cstdint>

#include "logging/code_map.h"
#include "logging/module_table.h"
#include "logging/output/output.h"
#include "logging/ring.h"
#include "trace/file/packing.h"

namespace halo::logging {

// Used by one thread at a time.
class Emptying {
 public:
  // Begins anew and opens the output. False where that failed: nothing has been written then.
  bool begin(Output* output);

  // One round. `last`: nothing follows, so a record that was never finished is given up.
  void round(uint64_t limit_key, bool last);
  void end(trace::file::Ending ending, uint32_t detail);
  bool continue_after_end();

  // The output has failed; errno of that.
  bool failed() const { return failed_; }
  uint32_t error() const { return error_; }

 private:
  bool empty(Ring& ring, bool last);
  void take_records(Ring& ring, char* segment, bool last);
  bool give_up_hole(Ring& ring, const Logged* hole, bool last);
  bool translate_at_once(const Logged& record, uint64_t site, Logged& result) const;
  bool translate(Ring& ring, const Logged& record, Logged& result);
  bool keep_marker(Ring& ring, const Logged& record);
  LoggedModule* find_module(uint64_t site, uint64_t epoch);
  uint64_t number_of(uint64_t site, uint64_t epoch);
  void write_modules();
  void write_module(LoggedModule& module);
  void look_at_code();
  void hand_over(const Ring& ring, uint64_t count);
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
  int64_t looked_at_ = 0;  // when the mappings were read, in milliseconds
  CodeMap code_;
};
static_assert(kRecords < trace::file::Packer::kMostEvents);

}  // namespace halo::logging
