// `text:PATH`: one human-readable line per event, with columns separated by tabs.
#include <errno.h>
#include <unistd.h>

#include <new>

#include "base/keep_errno.h"
#include "base/no_destructor.h"
#include "tracing/library/output/descriptor.h"
#include "tracing/library/output/new_file.h"
#include "tracing/library/output/output.h"
#include "tracing/library/text.h"

namespace halo::logging {

namespace {

using trace::Logged;
using trace::Marker;
using trace::Site;

constexpr const char* kKindNames[] = {"unknown",     "load",  "store", "update",    "read-range",
                                      "write-range", "enter", "exit",  "allocation"};

const char* marker_name(Marker marker) {
  switch (marker) {
    case Marker::kAlloc:
      return "alloc";
    case Marker::kAllocFrom:
      return "alloc-from";
    case Marker::kFrame:
      return "frame";
    case Marker::kFree:
      return "free";
    case Marker::kRevive:
      return "revive";
    case Marker::kCount:
      return "count";
    case Marker::kThreadEnd:
      return "thread-end";
    case Marker::kLost:
      return "lost";
    default:
      return nullptr;
  }
}

class TextOutput final : public Output {
 public:
  bool set_path(const char* path) { return new_file_.set_path(path); }

  bool begin(std::string_view) override {
    descriptor_.hold(new_file_.create());
    return descriptor_.number() >= 0;
  }
  bool events(uint32_t thread, std::span<const Logged> events) override;
  bool round(uint64_t) override { return write_out(); }
  bool end(trace::EndNote& note) override {
    note.written = 0;
    return note.ending == trace::Ending::kNoSpace ? end_early(note.detail) : write_out();
  }
  bool continue_after_end() override { return true; }
  bool begin_in_child() override {
    descriptor_.close();
    new (&text_) Text;  // a fork may have interrupted its growth
    new_file_.is_taken();
    module_ = nullptr;
    bytes_ = note_at_ = 0;
    return true;
  }

 private:
  static constexpr size_t kBuffered = 1 << 18;
  static constexpr size_t kNoteBytes = 64;  // maximum

  void print(const Logged& event);
  void print_place(const LoggedModule& module, const Site& site);
  const LoggedModule* module_of(uint64_t number);
  bool write_out();
  bool write_all(std::string_view text);
  bool end_early(uint32_t error);

  NewFile new_file_;
  Descriptor descriptor_;
  Text text_;
  const LoggedModule* module_ = nullptr;
  off_t bytes_ = 0;    // bytes written
  off_t note_at_ = 0;  // the last start of a line behind which a note fits into the file
};

bool has_site(const LoggedModule& module, uint64_t number) {
  const uint64_t sites = (module.sites.end - module.sites.begin) / sizeof(Site);
  return module.first_site != 0 && number - module.first_site < sites;
}

const LoggedModule* TextOutput::module_of(uint64_t number) {
  if (module_ != nullptr && has_site(*module_, number)) return module_;
  for (uint32_t at = 0; at < modules.count(); ++at) {
    if (has_site(modules[at], number)) return module_ = &modules[at];
  }
  return nullptr;
}

// References are offsets from their address in the program.
std::string_view resolve(const LoggedModule& module, const trace::Reference& reference) {
  if (reference == 0) return "-";
  const auto* field = reinterpret_cast<const char*>(&reference);
  const char* original = module.note.sites + (field - module.copy.sites) + reference;
  if (original < module.note.strings || original >= module.note.strings_end) return "-";
  const char* text = module.copy.strings + (original - module.note.strings);
  const std::string_view rest(text, size_t(module.copy.strings_end - text));
  const std::string_view found = rest.substr(0, rest.find('\0'));
  return found.empty() ? "-" : found;
}

void TextOutput::print_place(const LoggedModule& module, const Site& site) {
  text_.add("\t");
  text_.add(resolve(module, site.file));
  text_.add(":");
  text_.add_number(site.line);
  text_.add(":");
  text_.add_number(site.column);
  text_.add("\t");
  text_.add(resolve(module, site.function));
}

void TextOutput::print(const Logged& event) {
  const LoggedModule* module = event.site < trace::kMarkers ? nullptr : module_of(event.site);
  const Site* site = nullptr;
  if (module != nullptr)
    site = reinterpret_cast<const Site*>(module->copy.sites) + (event.site - module->first_site);
  const auto kind = site == nullptr ? size_t{0} : size_t(site->kind);
  text_.add(site == nullptr ? marker_name(Marker(event.site))
                            : kKindNames[kind < std::size(kKindNames) ? kind : 0]);
  text_.add("\t");
  text_.add(site == nullptr ? "-" : resolve(*module, site->variable));
  text_.add("\t");
  text_.add(site == nullptr ? "-" : resolve(*module, site->type));
  text_.add("\t");
  text_.add_hex(event.word1);
  text_.add("\t");
  text_.add_number(event.word2);
  if (site == nullptr) {
    text_.add("\t-\t-");
  } else {
    print_place(*module, *site);
  }
  text_.add("\n");
}

bool TextOutput::events(uint32_t thread, std::span<const Logged> events) {
  for (const Logged& event : events) {
    if (event.site < trace::kMarkers && marker_name(Marker(event.site)) == nullptr) continue;
    text_.add_number(thread);
    text_.add("\t");
    print(event);
    if (text_.view().size() > kBuffered && !write_out()) return false;
  }
  return true;
}

bool TextOutput::write_all(std::string_view text) {
  if (!text.empty() && !descriptor_.is_ours()) return false;
  while (!text.empty()) {
    const ssize_t done = write(descriptor_.number(), text.data(), text.size());
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return false;
    bytes_ += done;
    text.remove_prefix(size_t(done));
  }
  return true;
}

// The buffer begins with a whole line.
bool TextOutput::write_out() {
  const off_t begin = bytes_;
  const bool written = write_all(text_.view());
  const KeepErrno keep;
  const auto there = size_t(bytes_ - begin);
  if (there > kNoteBytes) {
    const size_t line = text_.view().substr(0, there - kNoteBytes).rfind('\n');
    if (line != std::string_view::npos) note_at_ = begin + off_t(line) + 1;
  }
  if (written) text_.clear();
  return written;
}

// Drops the last lines to make room for the note. Only a file allows that.
bool TextOutput::end_early(uint32_t error) {
  if (!descriptor_.is_ours() || ftruncate(descriptor_.number(), note_at_) != 0) return false;
  if (lseek(descriptor_.number(), note_at_, SEEK_SET) != note_at_) return false;
  text_.clear();
  text_.add("# ended early: errno ");
  text_.add_number(error);
  text_.add("\n");
  return write_all(text_.view());
}

constinit NoDestructor<TextOutput> output;

}  // namespace

Output* make_text_output(const char* argument) {
  return output.object.set_path(argument) ? &output.object : nullptr;
}

}  // namespace halo::logging
