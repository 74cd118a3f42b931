// Shared by the programs that write their UCP calls as one JSON object a line.
#pragma once

#include "ucp_pair.h"

// An endpoint and the region at its far end.
struct target {
  struct side* side;
  ucp_ep_h endpoint;
  ucp_rkey_h key;
  uint64_t region;
  int pid;
};

static const char* truth_prefix;
static FILE* truth_file;

static void open_truth(void) {
  if (truth_prefix == NULL) return;
  char path[4096];
  snprintf(path, sizeof path, "%s.%d.jsonl", truth_prefix, (int)getpid());
  truth_file = fopen(path, "w");
  check(truth_file != NULL, "writing the truth file");
}

static inline void called(const char* function, const char* kind, int to, size_t bytes) {
  if (truth_file == NULL) return;
  fprintf(truth_file, "{\"function\":\"%s\",\"kind\":\"%s\",\"by\":%d,\"to\":%d,\"bytes\":%zu}\n",
          function, kind, (int)getpid(), to, bytes);
}

// Callback of the calls without request parameters.
static inline void ignore(void* request, ucs_status_t status) { (void)request, (void)status; }
