// Tidy for C++: contexts, memory resources, allocators and placement new (halo/tidy.h).
#ifndef HALO_TIDY_HPP
#define HALO_TIDY_HPP

#include <halo/tidy.h>

#include <cstddef>
#include <limits>
#include <memory>
#include <memory_resource>
#include <new>
#include <type_traits>
#include <utility>

namespace halo::tidy {

// One to four elements of a hint.
class hint {
 public:
  // A number: converted to one element.
  template <class T, class = std::enable_if_t<std::is_integral_v<T> || std::is_enum_v<T>>>
  hint(T first) : at_{static_cast<unsigned>(first)} {}
  hint(unsigned first, unsigned second, unsigned third = 0, unsigned fourth = 0)
      : at_{first, second, third, fourth} {}

  const unsigned* data() const { return at_; }

 private:
  unsigned at_[TIDY_MAX_DIMENSIONS] = {};
};

// Owns a context. Throws std::bad_alloc if it cannot be made: a setting is out of its range, or
// memory is refused.
class context {
 public:
  context() : context(tidy_settings_t{}) {}
  explicit context(const tidy_settings_t& settings) : ctx_(tidy_create(&settings)) {
    if (ctx_ == nullptr) throw std::bad_alloc();
  }
  ~context() { tidy_destroy(ctx_); }
  context(const context&) = delete;
  context& operator=(const context&) = delete;

  tidy_ctx_t* get() const { return ctx_; }

 private:
  tidy_ctx_t* ctx_;
};

// The context and the hint of this thread's allocators, for as long as it exists; scopes nest. A
// container allocates before it constructs, so the hint has to come from outside.
class hint_scope {
 public:
  hint_scope(const context& of, const hint& value) : hint_scope(of, value, true) {}
  // Without a hint.
  explicit hint_scope(const context& of) : hint_scope(of, 0, false) {}
  ~hint_scope() { innermost = outer_; }
  hint_scope(const hint_scope&) = delete;
  hint_scope& operator=(const hint_scope&) = delete;

  // Memory by the innermost scope of this thread; nullptr if memory is refused.
  static void* allocate(size_t size, size_t alignment) {
    const hint_scope* const scope = innermost;
    if (scope == nullptr) return tidy_alloc_aligned(nullptr, alignment, size, nullptr);
    return tidy_alloc_aligned(scope->ctx_, alignment, size,
                              scope->has_hint_ ? scope->hint_.data() : nullptr);
  }

 private:
  hint_scope(const context& of, const hint& value, bool has_hint)
      : ctx_(of.get()), hint_(value), has_hint_(has_hint), outer_(innermost) {
    innermost = this;
  }

  static inline thread_local const hint_scope* innermost = nullptr;

  tidy_ctx_t* ctx_;
  hint hint_;
  bool has_hint_;
  const hint_scope* outer_;
};

// For containers of namespace std: memory by the innermost hint_scope.
template <class T>
class allocator {
 public:
  using value_type = T;

  allocator() = default;
  template <class U>
  allocator(const allocator<U>&) {}

  T* allocate(size_t count) {
    if (count > std::numeric_limits<size_t>::max() / sizeof(T)) throw std::bad_array_new_length();
    void* const p = hint_scope::allocate(count * sizeof(T), alignof(T));
    if (p == nullptr) throw std::bad_alloc();
    return static_cast<T*>(p);
  }
  void deallocate(T* p, size_t) { tidy_free(p); }
};

// Any of them frees what another one has allocated.
template <class T, class U>
bool operator==(const allocator<T>&, const allocator<U>&) noexcept {
  return true;
}
template <class T, class U>
bool operator!=(const allocator<T>&, const allocator<U>&) noexcept {
  return false;
}

// For pmr containers: memory of a context, all with one hint.
class resource final : public std::pmr::memory_resource {
 public:
  resource(const context& of, const tidy::hint& value) : ctx_(of.get()), hint_(value) {}

 private:
  void* do_allocate(size_t size, size_t alignment) override {
    void* const p = tidy_alloc_aligned(ctx_, alignment, size, hint_.data());
    if (p == nullptr) throw std::bad_alloc();
    return p;
  }
  void do_deallocate(void* p, size_t, size_t) override { tidy_free(p); }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return dynamic_cast<const resource*>(&other) != nullptr;
  }

  tidy_ctx_t* ctx_;
  tidy::hint hint_;
};

// Destroys an object of `make_unique` or placement new. A base class must have a virtual
// destructor.
template <class T>
void destroy(T* object) {
  if (object == nullptr) return;
  const void* memory = object;
  if constexpr (std::is_polymorphic_v<T>) memory = dynamic_cast<const void*>(object);
  object->~T();
  tidy_free(const_cast<void*>(memory));
}

struct destroyer {
  template <class T>
  void operator()(T* object) const {
    tidy::destroy(object);
  }
};

template <class T>
using unique_ptr = std::unique_ptr<T, destroyer>;

// An object in memory of Tidy, which is freed if the constructor throws.
template <class T, class... Arguments>
unique_ptr<T> construct(void* p, Arguments&&... arguments) {
  if (p == nullptr) throw std::bad_alloc();
  std::unique_ptr<void, decltype(&tidy_free)> memory(p, tidy_free);
  T* const object = ::new (p) T(std::forward<Arguments>(arguments)...);
  memory.release();
  return unique_ptr<T>(object);
}

// An object by the innermost hint_scope. Throws std::bad_alloc, and what its constructor throws.
template <class T, class... Arguments>
unique_ptr<T> make_in_scope(Arguments&&... arguments) {
  return construct<T>(hint_scope::allocate(sizeof(T), alignof(T)),
                      std::forward<Arguments>(arguments)...);
}

// An object near others with similar hints. Throws std::bad_alloc, and what its constructor throws.
template <class T, class... Arguments>
unique_ptr<T> make_unique(const context& of, const hint& value, Arguments&&... arguments) {
  return construct<T>(tidy_alloc_aligned(of.get(), alignof(T), sizeof(T), value.data()),
                      std::forward<Arguments>(arguments)...);
}

}  // namespace halo::tidy

// new (context, hint) T(...): delete frees it if libhalo-tidy.so is linked, tidy::destroy always.
inline void* operator new(size_t size, const halo::tidy::context& of,
                          const halo::tidy::hint& value) {
  void* const p = tidy_alloc(of.get(), size, value.data());
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
inline void operator delete(void* p, const halo::tidy::context&, const halo::tidy::hint&) noexcept {
  tidy_free(p);
}
inline void* operator new(size_t size, std::align_val_t alignment, const halo::tidy::context& of,
                          const halo::tidy::hint& value) {
  void* const p = tidy_alloc_aligned(of.get(), static_cast<size_t>(alignment), size, value.data());
  if (p == nullptr) throw std::bad_alloc();
  return p;
}
inline void operator delete(void* p, std::align_val_t, const halo::tidy::context&,
                            const halo::tidy::hint&) noexcept {
  tidy_free(p);
}

#endif
