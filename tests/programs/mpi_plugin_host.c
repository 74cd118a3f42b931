// Does not use MPI itself, and loads plug-ins that do, each into a scope of its own. The first one
// stays; the others are unloaded after their turn.
//
//     mpi_plugin_host PLUGIN...
//     mpi_plugin_host deepbind PLUGIN...            they find MPI's own functions first, before all
//                                                   that is preloaded
//     mpi_plugin_host deepbind-unload PLUGIN...     and the first one is unloaded in the end
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

typedef int CallMpi(int turn);

static void* load(const char* path, int flags, CallMpi** call) {
  void* plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL | flags);
  *call = plugin != NULL ? (CallMpi*)dlsym(plugin, "call_mpi") : NULL;
  if (*call == NULL) fprintf(stderr, "mpi_plugin_host: %s\n", dlerror());
  return plugin;
}

int main(int count, char** plugins) {
  CallMpi *first, *call;
  if (count < 2) return 1;
  const int unload = strcmp(plugins[1], "deepbind-unload") == 0;
  const int flags = unload || strcmp(plugins[1], "deepbind") == 0 ? RTLD_DEEPBIND : 0;
  if (flags != 0) {
    ++plugins;
    --count;
  }
  void* stays = load(plugins[1], flags, &first);
  if (first == NULL || first(0) != 0) return 1;
  int failures = first(1);
  for (int turn = 2; turn < count; ++turn) {
    void* plugin = load(plugins[turn], flags, &call);
    if (call == NULL) return 1;
    failures += call(turn);
    if (dlclose(plugin) != 0) return 1;
  }
  failures += first(-1);
  if (unload && dlclose(stays) != 0) return 1;
  return failures;
}
