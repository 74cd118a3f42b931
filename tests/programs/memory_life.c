// One process that maps memory in every circumstance: before it has a worker, in a signal handler,
// after a fork in both processes, with keys that it unpacks for itself, and a mapping that fails.
// Each process writes how often it called which function, as one JSON object.
//
//     memory_life TRUTH-PREFIX [child-unmaps]
//
// With `child-unmaps` the child also unmaps what its parent had mapped before the fork, in its copy
// of the parent's context.

#include <signal.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ucp_self.h"

enum { kBytes = 100000, kMaps = 5 };
static unsigned char memory[kMaps][kBytes];

static struct {
  int map, map_failed, unmap, pack, unpack, destroy;
  size_t bytes;
} calls;

static ucp_context_h context;
static ucp_mem_h in_handler;

static ucp_mem_h map(unsigned char* address) {
  const ucp_mem_map_params_t params = {
      .field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH,
      .address = address,
      .length = kBytes};
  ucp_mem_h mapped;
  check(ucp_mem_map(context, &params, &mapped) == UCS_OK, "ucp_mem_map");
  ++calls.map;
  calls.bytes += kBytes;
  return mapped;
}

static void unmap(ucp_mem_h mapped) {
  check(ucp_mem_unmap(context, mapped) == UCS_OK, "ucp_mem_unmap");
  ++calls.unmap;
}

static void map_nothing(void) {
  const ucp_mem_map_params_t params = {.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS};
  ucp_mem_h mapped;
  check(ucp_mem_map(context, &params, &mapped) != UCS_OK, "ucp_mem_map without a length");
  ++calls.map_failed;
}

static void on_signal(int number) {
  (void)number;
  in_handler = map(memory[1]);
}

static void put_to_self(struct node node, ucp_mem_h mapped, unsigned char* to) {
  const ucp_request_param_t defaults = {0};
  void* packed;
  size_t bytes;
  ucp_rkey_h key;
  check(ucp_rkey_pack(context, mapped, &packed, &bytes) == UCS_OK, "ucp_rkey_pack");
  ++calls.pack;
  check(ucp_ep_rkey_unpack(node.endpoint, packed, &key) == UCS_OK, "ucp_ep_rkey_unpack");
  ++calls.unpack;
  finish(node.worker,
         ucp_put_nbx(node.endpoint, memory[kMaps - 1], kBytes, (uint64_t)(uintptr_t)to, key,
                     &defaults),
         "ucp_put_nbx");
  finish(node.worker, ucp_ep_flush_nbx(node.endpoint, &defaults), "ucp_ep_flush_nbx");
  check(memcmp(to, memory[kMaps - 1], kBytes) == 0, "comparing contents");
  ucp_rkey_destroy(key);
  ++calls.destroy;
  ucp_rkey_buffer_release(packed);
}

static void write_truth(const char* prefix) {
  char path[4096];
  snprintf(path, sizeof path, "%s.%d.jsonl", prefix, (int)getpid());
  FILE* file = fopen(path, "w");
  check(file != NULL, "writing the truth file");
  fprintf(file,
          "{\"pid\":%d,\"bytes\":%zu,\"ucp_mem_map\":%d,\"failed\":%d,\"ucp_mem_unmap\":%d,"
          "\"ucp_rkey_pack\":%d,\"ucp_ep_rkey_unpack\":%d,\"ucp_rkey_destroy\":%d}\n",
          (int)getpid(), calls.bytes, calls.map + calls.map_failed, calls.map_failed, calls.unmap,
          calls.pack, calls.unpack, calls.destroy);
  fclose(file);
}

static void open_context_for_memory(void) {
  const ucp_params_t params = {.field_mask = UCP_PARAM_FIELD_FEATURES,
                               .features = UCP_FEATURE_RMA | UCP_FEATURE_TAG};
  check(ucp_init_version(UCP_API_MAJOR, UCP_API_MINOR, &params, NULL, &context) == UCS_OK,
        "ucp_init");
}

// In a child the parent's UCX is in an undefined state: the child opens its own context.
static void live_as_child(const char* prefix, ucp_mem_h inherited) {
  ucp_context_h of_parent = context;
  memset(&calls, 0, sizeof calls);
  open_context_for_memory();
  const struct node node = open_node(context, UCS_THREAD_MODE_SINGLE);
  ucp_mem_h mapped = map(memory[3]);
  put_to_self(node, mapped, memory[3]);
  unmap(mapped);
  close_node(node);
  ucp_cleanup(context);
  if (inherited != NULL) {
    context = of_parent;
    unmap(inherited);
  }
  write_truth(prefix);
  exit(0);
}

int main(int argc, char** argv) {
  const int child_unmaps = argc == 3 && strcmp(argv[2], "child-unmaps") == 0;
  check(argc == 2 || child_unmaps, "usage: memory_life TRUTH-PREFIX [child-unmaps]");
  memset(memory[kMaps - 1], 77, kBytes);
  open_context_for_memory();
  ucp_mem_h early = map(memory[0]);
  const struct node node = open_node(context, UCS_THREAD_MODE_SINGLE);
  signal(SIGUSR1, on_signal);
  raise(SIGUSR1);
  map_nothing();
  put_to_self(node, early, memory[0]);
  const pid_t child = fork();
  if (child == 0) live_as_child(argv[1], child_unmaps ? early : NULL);
  int status = 1;
  check(waitpid(child, &status, 0) == child && status == 0, "the child");
  ucp_mem_h late = map(memory[2]);
  put_to_self(node, late, memory[2]);
  unmap(early);
  unmap(in_handler);
  unmap(late);
  close_node(node);
  ucp_cleanup(context);
  write_truth(argv[1]);
  puts("memory_life: done");
  return 0;
}
