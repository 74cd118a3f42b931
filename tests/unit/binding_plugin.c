// Calls two functions of the C library: which it has called, objects_test.cpp asks of it.
#include <unistd.h>

int call_getppid(void);
int call_getpgrp(void);

int call_getppid(void) { return (int)getppid() + 1; }
int call_getpgrp(void) { return (int)getpgrp() + 1; }
