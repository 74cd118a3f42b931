// Shared by the MPI test programs: seeded contents, checks, and the truth file in which each rank
// writes what it sent, one JSON object a line, for comparison with the profiler's results.
#pragma once

#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contents.h"

__attribute__((format(printf, 1, 2), noreturn)) static inline void fail(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fputc('\n', stderr);
  MPI_Abort(MPI_COMM_WORLD, 1);
  abort();
}

static inline void* allocate(size_t bytes) {
  void* memory = calloc(1, bytes > 0 ? bytes : 1);
  if (memory == NULL) fail("out of memory: %zu bytes", bytes);
  return memory;
}

// --- truth ---------------------------------------------------------------------------------------

static FILE* truth_file;

// Opens <prefix>.<rank>.jsonl; without a prefix nothing is written.
static inline void open_truth(const char* prefix, int rank) {
  if (prefix == NULL) return;
  char path[4096];
  snprintf(path, sizeof path, "%s.%d.jsonl", prefix, rank);
  truth_file = fopen(path, "w");
  if (truth_file == NULL) fail("cannot write %s", path);
}

struct sent {
  int src, dst;  // world ranks
  size_t bytes;
  int tag;  // kNoTag: sent by a collective
  const char *function, *comm;
};
enum { kNoTag = -1 };

static inline void write_truth(struct sent sent) {
  if (truth_file == NULL) return;
  char tag[16] = "null";
  if (sent.tag != kNoTag) snprintf(tag, sizeof tag, "%d", sent.tag);
  fprintf(truth_file,
          "{\"src\":%d,\"dst\":%d,\"bytes\":%zu,\"tag\":%s,\"function\":\"%s\",\"comm\":\"%s\"}\n",
          sent.src, sent.dst, sent.bytes, tag, sent.function, sent.comm);
}

static inline void flush_truth(void) {
  if (truth_file != NULL && fflush(truth_file) != 0) fail("cannot write the truth file");
}

static inline void close_truth(void) {
  if (truth_file != NULL && fclose(truth_file) != 0) fail("cannot write the truth file");
  truth_file = NULL;
}
