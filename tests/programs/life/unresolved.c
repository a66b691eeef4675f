// A library that cannot be opened: its dependencies are mapped before the error is found.
extern int defined_nowhere(void);

int use_it(void) { return defined_nowhere(); }
