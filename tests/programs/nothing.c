// A program that touches neither UCX nor MPI: fixed output on both streams and an exit status.

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char** argv) {
  printf("nothing: %d arguments\n", argc - 1);
  fprintf(stderr, "nothing: no UCX, no MPI\n");
  return argc > 1 ? atoi(argv[1]) : 0;
}
