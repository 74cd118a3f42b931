// Knows nothing of MPI, and loads plug-ins that do, each into a scope of its own. The first one
// stays; the others are unloaded after their turn.
//
//     mpi_plugin_host PLUGIN...
#include <dlfcn.h>
#include <stdio.h>

typedef int CallMpi(int turn);

static void* load(const char* path, CallMpi** call) {
  void* plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  *call = plugin != NULL ? (CallMpi*)dlsym(plugin, "call_mpi") : NULL;
  if (*call == NULL) fprintf(stderr, "mpi_plugin_host: %s\n", dlerror());
  return plugin;
}

int main(int count, char** plugins) {
  CallMpi *first, *call;
  load(plugins[1], &first);
  if (first == NULL || first(0) != 0) return 1;
  int failures = first(1);
  for (int turn = 2; turn < count; ++turn) {
    void* plugin = load(plugins[turn], &call);
    if (call == NULL) return 1;
    failures += call(turn);
    if (dlclose(plugin) != 0) return 1;
  }
  return first(-1) + failures;
}
