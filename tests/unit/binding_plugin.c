// Calls two functions of the C library: objects_test.cpp checks which ones it has bound.
#include <unistd.h>

int call_getppid(void);
int call_getpgrp(void);

int call_getppid(void) { return (int)getppid() + 1; }
int call_getpgrp(void) { return (int)getpgrp() + 1; }
