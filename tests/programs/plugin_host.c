// Loads plug-ins, each into a scope of its own, and calls each twice: the second time with a worker
// made again.
//
//     plugin_host PLUGIN...
//     plugin_host unload PLUGIN     loads and unloads the plug-in, with all that it brought, six
//     times

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int count, char** plugins) {
  const int unload = count == 3 && strcmp(plugins[1], "unload") == 0;
  const int turns = unload ? 6 : count - 1;
  for (int turn = 1; turn <= turns; ++turn) {
    const int i = unload ? 2 : turn;
    void* plugin = dlopen(plugins[i], RTLD_NOW | RTLD_LOCAL);
    int (*use)(void) = plugin != NULL ? (int (*)(void))dlsym(plugin, "use_ucp") : NULL;
    if (use == NULL) {
      fprintf(stderr, "plugin_host: %s\n", dlerror());
      return 1;
    }
    const int messages = use() + use();
    printf("plugin_host: plug-in %d sent %d messages\n", turn, messages);
    if (unload && dlclose(plugin) != 0) return 1;
  }
  return 0;
}
