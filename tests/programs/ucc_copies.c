// usage: ucc_copies PLUG_IN...
// Loads plug-ins that use UCC, each into a scope of its own, uses each twice, and prints which UCC it had.
#include <dlfcn.h>
#include <stdio.h>

typedef const char* Use(const char** path);

int main(int argc, char** argv) {
  void* opened[8];
  for (int i = 1; i < argc && i < 8; ++i) {
    opened[i] = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
    if (opened[i] == NULL) {
      fprintf(stderr, "%s\n", dlerror());
      return 1;
    }
  }
  for (int round = 0; round < 2; ++round) {
    for (int i = 1; i < argc && i < 8; ++i) {
      const char* path = "none";
      const char* fault = ((Use*)dlsym(opened[i], "use_ucc"))(&path);
      printf("%s\n", path);
      if (*fault != 0) {
        fprintf(stderr, "%s: %s failed\n", argv[i], fault);
        return 1;
      }
    }
  }
  return 0;
}
