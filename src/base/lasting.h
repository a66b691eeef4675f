// Objects that are there to the end: threads and late destructors use them until then.
#pragma once

namespace halo {

// Never destroyed.
template <class T>
union Lasting {
  constexpr Lasting() : object{} {}
  constexpr ~Lasting() {}
  T object;
};

}  // namespace halo
