// Objects that are there to the end: threads and late destructors log until then.
#pragma once

namespace halo::logging {

// Never destroyed.
template <class T>
union Lasting {
  constexpr Lasting() : object{} {}
  constexpr ~Lasting() {}
  T object;
};

}  // namespace halo::logging
