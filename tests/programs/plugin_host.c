// Loads plug-ins, each into a scope of its own, and calls each twice: the second time with a worker
// made again.
//
//     plugin_host [OPTION...] PLUGIN [[OPTION...] PLUGIN...]
//
// Options hold for all plug-ins behind them:
//
//     deepbind  what a plug-in brings along is bound to itself
//     lazy      its calls are bound when they are made
//     unload    loads and unloads a plug-in with all that it brought, six times
//     staged    unloads something else between the context of UCX and all that is made of it, once
//     unused    loads it only
//     plain     none of these

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
  const char* name;
  int is_set;
} options[] = {{"deepbind", 0}, {"lazy", 0}, {"unload", 0}, {"staged", 0}, {"unused", 0}};
enum { kDeep, kLazy, kUnload, kStaged, kUnused, kOptions };

static int take_option(const char* word) {
  const int plain = strcmp(word, "plain") == 0;
  int taken = plain;
  for (int i = 0; i < kOptions; ++i) {
    if (plain) options[i].is_set = 0;
    if (strcmp(word, options[i].name) == 0) taken = options[i].is_set = 1;
  }
  return taken;
}

static void* must(void* found) {
  if (found != NULL) return found;
  fprintf(stderr, "plugin_host: %s\n", dlerror());
  exit(1);
}

// Returns the number of messages.
static int use(void* plugin) {
  if (options[kStaged].is_set) {
    ((void (*)(void))must(dlsym(plugin, "begin_ucx")))();
    dlclose(must(dlopen("libm.so.6", RTLD_LAZY)));
    return ((int (*)(void))must(dlsym(plugin, "go_on")))();
  }
  int (*use_ucx)(void) = (int (*)(void))must(dlsym(plugin, "use_ucx"));
  return options[kUnused].is_set ? 0 : use_ucx() + use_ucx();
}

int main(int count, char** words) {
  int plugins = 0;
  for (int i = 1; i < count; ++i) {
    if (take_option(words[i])) continue;
    const int unload = options[kUnload].is_set;
    const int mode = (options[kLazy].is_set ? RTLD_LAZY : RTLD_NOW) | RTLD_LOCAL |
                     (options[kDeep].is_set ? RTLD_DEEPBIND : 0);
    for (int turn = 0; turn < (unload ? 6 : 1); ++turn) {
      void* plugin = must(dlopen(words[i], mode));
      printf("plugin_host: plug-in %d sent %d messages\n", ++plugins, use(plugin));
      if (unload && dlclose(plugin) != 0) return 1;
    }
  }
  return 0;
}
