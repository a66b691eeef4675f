#include "runtime/accounting/malloc_info_text.h"

#include <cstdint>
#include <cstdlib>

namespace halo::runtime {
namespace {

constexpr std::string_view kHeapBegin = "<heap nr=\"";
constexpr std::string_view kHeapEnd = "</heap>\n";

void write(std::FILE* stream, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
}

unsigned count(std::string_view text, std::string_view part) {
  unsigned found = 0;
  for (size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size()))
    ++found;
  return found;
}

// Copies a text with larger numbers.
class Adder {
 public:
  Adder(std::FILE* stream, std::string_view text) : stream_(stream), text_(text) {}
  ~Adder() { write(stream_, text_); }
  Adder(const Adder&) = delete;
  Adder& operator=(const Adder&) = delete;

  // Adds to the number behind the next `attribute` of the next `element`. In the order of the text.
  void add(std::string_view element, std::string_view attribute, uint64_t more) {
    const size_t begin = text_.find(element);
    if (begin == std::string_view::npos) return;
    const size_t found = text_.find(attribute, begin);
    if (found == std::string_view::npos) return;
    const size_t digits = found + attribute.size();
    const size_t end = text_.find('"', digits);
    if (end == std::string_view::npos) return;
    write(stream_, text_.substr(0, digits));
    // The quotation mark ends the number.
    std::fprintf(stream_, "%lu", std::strtoul(text_.data() + digits, nullptr, 10) + more);
    text_.remove_prefix(end);
  }

 private:
  std::FILE* stream_;
  std::string_view text_;  // what is left of it
};

}  // namespace

void write_malloc_info(std::FILE* stream, std::string_view document, const GroupedTotals& grouped) {
  const size_t last = document.rfind(kHeapEnd);
  if (last == std::string_view::npos) return write(stream, document);
  const std::string_view heaps = document.substr(0, last + kHeapEnd.size());
  const auto& [blocks, spans, span_count] = grouped;
  const uint64_t free = blocks.active - blocks.live;
  write(stream, heaps);
  std::fprintf(stream,
               "<heap nr=\"%u\">\n<sizes>\n</sizes>\n"
               "<total type=\"fast\" count=\"0\" size=\"0\"/>\n"
               "<total type=\"rest\" count=\"0\" size=\"%lu\"/>\n"
               "<system type=\"current\" size=\"%lu\"/>\n<system type=\"max\" size=\"%lu\"/>\n"
               "<aspace type=\"total\" size=\"%lu\"/>\n<aspace type=\"mprotect\" size=\"%lu\"/>\n"
               "</heap>\n",
               count(heaps, kHeapBegin), free, blocks.active, blocks.active, blocks.mapped,
               blocks.mapped);
  Adder totals(stream, document.substr(heaps.size()));
  totals.add("<total type=\"rest\"", "size=\"", free);
  totals.add("<total type=\"mmap\"", "count=\"", span_count);
  totals.add("", "size=\"", spans.live);
  totals.add("<system type=\"current\"", "size=\"", blocks.active);
  totals.add("<system type=\"max\"", "size=\"", blocks.active);
  totals.add("<aspace type=\"total\"", "size=\"", blocks.mapped);
  totals.add("<aspace type=\"mprotect\"", "size=\"", blocks.mapped);
}

}  // namespace halo::runtime
