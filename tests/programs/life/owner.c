// A function that another library has, too.
const char* name_of_owner(void) { return "program"; }
