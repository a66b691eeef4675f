#include "tracing/pass/site_notes.h"

namespace halo::pass {

uint32_t SiteNotes::add(const SiteNote& note) {
  const auto text = [&](const std::string& string) { return Word::of(strings_.add(string)); };
  const uint64_t head = static_cast<uint64_t>(note.kind) |
                        static_cast<uint64_t>(note.alignment_log2) << 8 |
                        static_cast<uint64_t>(note.size) << 16;
  const Word words[] = {Word::of(head),
                        Word::of(note.line),
                        Word::of(note.column),
                        text(note.file),
                        text(note.function),
                        text(note.variable),
                        text(note.type),
                        Word::of(types_.add(note.owner)),
                        Word::of(note.owner_offset),
                        Word::of(note.element_size),
                        Word::of(uint64_t{0}),
                        Word::of(uint64_t{0})};
  static_assert(sizeof(words) / sizeof(Word) * sizeof(uint32_t) == sizeof(trace::Site));
  std::vector<uint64_t> key;
  for (const Word& word : words)
    key.push_back(word.number | static_cast<uint64_t>(word.target.offset) << 32 |
                  static_cast<uint64_t>(word.target.section));
  const auto [place, fresh] = offsets_.try_emplace(key, static_cast<uint32_t>(words_.size() * 4));
  if (fresh) words_.insert(words_.end(), std::begin(words), std::end(words));
  return place->second;
}

}  // namespace halo::pass
