// A program without OpenSHMEM that looks for it, as programs do to use it where it is loaded.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>

int main(void) {
  static const char* const kNames[] = {"shmem_init",     "shmem_putmem",    "shmem_ctx_double_g",
                                       "pshmem_putmem",  "shmem_int_sum_reduce", "start_pes",
                                       "shmem_finalize", "shmalloc",        "shmem_info_get_version"};
  void* const program = dlopen(NULL, RTLD_NOW);
  for (unsigned i = 0; i < sizeof kNames / sizeof *kNames; ++i) {
    printf("%s: %d %d\n", kNames[i], dlsym(RTLD_DEFAULT, kNames[i]) != NULL, dlsym(program, kNames[i]) != NULL);
  }
  return 0;
}
