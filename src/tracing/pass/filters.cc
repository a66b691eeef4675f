#include "tracing/pass/filters.h"

#include <algorithm>

namespace halo::pass {

llvm::Error Globs::add(llvm::StringRef glob) {
  const bool exclude = glob.consume_front("!");
  auto pattern = llvm::GlobPattern::create(glob);
  if (!pattern) return pattern.takeError();
  (exclude ? excluded_ : included_).push_back(std::move(*pattern));
  return llvm::Error::success();
}

bool Globs::pass(std::initializer_list<llvm::StringRef> names) const {
  const auto any = [&](const std::vector<llvm::GlobPattern>& patterns) {
    return std::any_of(patterns.begin(), patterns.end(), [&](const llvm::GlobPattern& pattern) {
      return std::any_of(names.begin(), names.end(),
                         [&](llvm::StringRef name) { return pattern.match(name); });
    });
  };
  return (included_.empty() || any(included_)) && !any(excluded_);
}

bool Filters::pass_event(trace::SiteKind kind) const {
  switch (kind) {
    case trace::SiteKind::kLoad:
    case trace::SiteKind::kReadRange:
      return events.pass({"access", "read"});
    case trace::SiteKind::kStore:
    case trace::SiteKind::kWriteRange:
      return events.pass({"access", "write"});
    case trace::SiteKind::kUpdate:
      return events.pass({"access", "read", "write"});
    case trace::SiteKind::kEnter:
    case trace::SiteKind::kExit:
      return events.pass({"call"});
    default:
      return events.pass({"allocation"});
  }
}

}  // namespace halo::pass
