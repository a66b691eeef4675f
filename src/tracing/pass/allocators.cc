#include "tracing/pass/allocators.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringExtras.h>
#include <llvm/Support/LineIterator.h>
#include <llvm/Support/MemoryBuffer.h>

namespace halo::pass {
namespace {

constexpr std::pair<const char*, Allocator> kStandard[] = {
    {"malloc", {0, -1, -1}},        {"calloc", {1, 0, -1}},         {"realloc", {1, -1, -1}},
    {"reallocarray", {2, 1, -1}},   {"aligned_alloc", {1, -1, -1}}, {"memalign", {1, -1, -1}},
    {"posix_memalign", {2, -1, 0}}, {"valloc", {0, -1, -1}},        {"pvalloc", {0, -1, -1}},
};
// operator new and operator new[], each plain, nothrow, aligned, and nothrow aligned.
constexpr const char* kOperators[] = {
    "_Znwm", "_ZnwmRKSt9nothrow_t", "_ZnwmSt11align_val_t", "_ZnwmSt11align_val_tRKSt9nothrow_t",
    "_Znam", "_ZnamRKSt9nothrow_t", "_ZnamSt11align_val_t", "_ZnamSt11align_val_tRKSt9nothrow_t"};

bool parse(llvm::StringRef line, llvm::StringRef& name, Allocator& allocator) {
  llvm::SmallVector<llvm::StringRef> words;
  for (llvm::StringRef rest = line.trim(); !rest.empty();) {
    const auto [word, more] = llvm::getToken(rest);
    words.push_back(word);
    rest = more.trim();
  }
  if (words.size() != 4) return false;
  name = words[0];
  return !words[1].getAsInteger(10, allocator.size) && allocator.size >= 0 &&
         !words[2].getAsInteger(10, allocator.count) && allocator.count >= -1 &&
         !words[3].getAsInteger(10, allocator.address) && allocator.address >= -1;
}

}  // namespace

Allocators::Allocators() {
  for (const auto& [name, allocator] : kStandard) known_[name] = allocator;
  for (const char* name : kOperators) known_[name] = {0, -1, -1};
}

llvm::Error Allocators::read(llvm::StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return llvm::createStringError(buffer.getError(),
                                   "the list of allocators %s cannot be read: %s",
                                   path.str().c_str(), buffer.getError().message().c_str());
  for (llvm::line_iterator line(**buffer, true, '#'); !line.is_at_end(); ++line) {
    const llvm::StringRef text = line->split('#').first;
    llvm::StringRef name;
    Allocator allocator{};
    if (text.trim().empty()) continue;
    if (!parse(text, name, allocator))
      return llvm::createStringError(
          "%s:%d is malformed; a line has the form NAME SIZE-POSITION COUNT-POSITION "
          "ADDRESS-POSITION",
          path.str().c_str(), static_cast<int>(line.line_number()));
    known_[name] = allocator;
  }
  return llvm::Error::success();
}

const Allocator* Allocators::find(llvm::StringRef function) const {
  const auto found = known_.find(function);
  return found == known_.end() ? nullptr : &found->second;
}

}  // namespace halo::pass
