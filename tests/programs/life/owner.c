// A function that another library also defines.
const char* name_of_owner(void) { return "program"; }
