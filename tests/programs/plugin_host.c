// Loads plug-ins, each into a scope of its own, and calls each twice: the second time with a worker
// made again.
//
//     plugin_host PLUGIN...

#include <dlfcn.h>
#include <stdio.h>

int main(int count, char** plugins) {
  for (int i = 1; i < count; ++i) {
    void* plugin = dlopen(plugins[i], RTLD_NOW | RTLD_LOCAL);
    int (*use)(void) = plugin != NULL ? (int (*)(void))dlsym(plugin, "use_ucp") : NULL;
    if (use == NULL) {
      fprintf(stderr, "plugin_host: %s\n", dlerror());
      return 1;
    }
    const int messages = use() + use();
    printf("plugin_host: plug-in %d sent %d messages\n", i, messages);
  }
  return 0;
}
