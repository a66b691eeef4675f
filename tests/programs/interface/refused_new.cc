// The results of each form of operator new without memory, with and without a new handler.
//
//   refused_new nothing|resets|throws [more than there is]
//
// The argument names the new handler. Prints one line a form.
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <initializer_list>
#include <new>

namespace {

constexpr std::align_val_t wide{64};
constexpr int calls_until_reset = 3;
int calls = 0;

void resets() {
  if (++calls == calls_until_reset) std::set_new_handler(nullptr);
}
struct Stop : std::bad_alloc {};
void throws() {
  ++calls;
  throw Stop();
}

using Make = void* (*)(size_t);
struct Form {
  const char* name;
  Make make;
  void (*release)(void*);
};

void drop(void* p) { ::operator delete(p); }
void drop_array(void* p) { ::operator delete[](p); }
void drop_wide(void* p) { ::operator delete(p, wide); }
void drop_wide_array(void* p) { ::operator delete[](p, wide); }

constexpr Form forms[] = {
    {"new", [](size_t n) { return ::operator new(n); }, drop},
    {"new[]", [](size_t n) { return ::operator new[](n); }, drop_array},
    {"nothrow new", [](size_t n) { return ::operator new(n, std::nothrow); }, drop},
    {"nothrow new[]", [](size_t n) { return ::operator new[](n, std::nothrow); }, drop_array},
    {"aligned new", [](size_t n) { return ::operator new(n, wide); }, drop_wide},
    {"aligned new[]", [](size_t n) { return ::operator new[](n, wide); }, drop_wide_array},
    {"aligned nothrow new", [](size_t n) { return ::operator new(n, wide, std::nothrow); },
     drop_wide},
    {"aligned nothrow new[]", [](size_t n) { return ::operator new[](n, wide, std::nothrow); },
     drop_wide_array},
};

const char* outcome(const Form& form, size_t size) {
  try {
    return form.make(size) == nullptr ? "null" : "a block";
  } catch (const Stop&) {
    return "what the handler throws";
  } catch (const std::bad_alloc&) {
    return "bad_alloc";
  }
}

// The sites of the refused requests serve small ones as well.
void make_some(const Form& form) {
  for (int i = 0; i < 100; ++i) {
    auto* p = static_cast<volatile char*>(form.make(40));
    p[0] = p[39] = 1;
    form.release(const_cast<char*>(p));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* handler = argc > 1 ? argv[1] : "nothing";
  for (const Form& form : forms) {
    make_some(form);
    if (argc <= 2) continue;
    for (const size_t size : {SIZE_MAX / 2, SIZE_MAX - 20}) {
      calls = 0;
      std::set_new_handler(strcmp(handler, "resets") == 0   ? resets
                           : strcmp(handler, "throws") == 0 ? throws
                                                            : nullptr);
      const char* found = outcome(form, size);
      printf("%s: %s, %d calls\n", form.name, found, calls);
      fflush(stdout);
    }
    std::set_new_handler(nullptr);
    make_some(form);
  }
}
