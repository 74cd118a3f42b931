// Loads plug-ins, each into a scope of its own, and calls each twice: the second time with a worker
// made again.
//
//     plugin_host PLUGIN...
//     plugin_host deepbind PLUGIN...    what a plug-in brings along is bound to itself
//     plugin_host unload PLUGIN         loads and unloads it with all that it brought, six times

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

int main(int count, char** plugins) {
  const int unload = count == 3 && strcmp(plugins[1], "unload") == 0;
  const int deep = count > 2 && strcmp(plugins[1], "deepbind") == 0;
  const int first = 1 + (unload || deep), turns = unload ? 6 : count - first;
  for (int turn = 0; turn < turns; ++turn) {
    const int mode = RTLD_NOW | RTLD_LOCAL | (deep ? RTLD_DEEPBIND : 0);
    void* plugin = dlopen(plugins[unload ? first : first + turn], mode);
    int (*use)(void) = plugin != NULL ? (int (*)(void))dlsym(plugin, "use_ucp") : NULL;
    if (use == NULL) {
      fprintf(stderr, "plugin_host: %s\n", dlerror());
      return 1;
    }
    const int messages = use() + use();
    printf("plugin_host: plug-in %d sent %d messages\n", turn + 1, messages);
    if (unload && dlclose(plugin) != 0) return 1;
  }
  return 0;
}
