// A library that cannot be opened: what it needs is mapped before that is found out.
extern int defined_nowhere(void);

int use_it(void) { return defined_nowhere(); }
