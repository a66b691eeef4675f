// A library to open: its constructor asks the test whether it runs inside the linker.
extern "C" {
bool modules_test_in_linker();
bool constructed_in_linker = false;
void nothing() {}
__attribute__((constructor)) static void open_library() {
  constructed_in_linker = modules_test_in_linker();
}
}
