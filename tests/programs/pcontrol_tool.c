// Another tool between a program and its MPI: prints the arguments of MPI_Pcontrol(7, ...) in
// recorded_parts.c, and does not forward the call. It can be built without MPI.
#include <stdarg.h>
#include <stdio.h>

int MPI_Pcontrol(const int level, ...);

int MPI_Pcontrol(const int level, ...) {
  if (level != 7) return 0;
  va_list rest;
  va_start(rest, level);
  const char* name = va_arg(rest, const char*);
  const double factor = va_arg(rest, double);
  const int a = va_arg(rest, int);
  const long b = va_arg(rest, long);
  const int c = va_arg(rest, int), d = va_arg(rest, int), e = va_arg(rest, int),
            f = va_arg(rest, int);
  const double last = va_arg(rest, double);
  printf("tool: %s %g %d %ld %d %d %d %d %g %s\n", name, factor, a, b, c, d, e, f, last,
         va_arg(rest, const char*));
  va_end(rest);
  return 0;
}
