// Objects that are never destroyed, since threads and late destructors still use them.
#pragma once

namespace halo {

// Holds an object without running its destructor.
template <class T>
union NoDestructor {
  constexpr NoDestructor() : object{} {}
  constexpr ~NoDestructor() {}
  T object;
};

}  // namespace halo
