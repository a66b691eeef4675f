// A library to open: its constructor asks its opener whether the linker is at work.
extern "C" {
bool modules_test_in_linker();
bool constructed_in_linker = false;
void nothing() {}
__attribute__((constructor)) static void ask() { constructed_in_linker = modules_test_in_linker(); }
}
