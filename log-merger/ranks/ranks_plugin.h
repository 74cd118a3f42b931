/* The command's interface to MPI, so that it does not depend on MPI itself: a small library for
 * each MPI implements it, and is opened under that MPI's launcher. Call it from one thread at a
 * time. */
#ifndef UCTRACE_RANKS_PLUGIN_H
#define UCTRACE_RANKS_PLUGIN_H

#include <stdint.h>

#define UCTRACE_RANKS_VERSION 1u
#define UCTRACE_RANKS_BEGIN "uctrace_ranks_begin"

struct uctrace_ranks {
  uint32_t version;
  int rank, size;
  int on_this_host; /* of the ranks */
  /* Rank 0 gets the bytes of each rank, in order, including its own: room() returns where the bytes
   * of a rank go. Returns 0, or MPI's error. */
  int (*gather)(const void *bytes, uint64_t count,
                void *(*room)(void *context, int rank, uint64_t count), void *context);
  /* `count` bytes of rank 0's to all. */
  int (*broadcast)(void *bytes, uint64_t count);
  /* The last call. */
  void (*end)(void);
  /* Ends all ranks. */
  void (*abort)(int status);
};

/* Starts MPI. NULL: MPI does not work here. */
typedef const struct uctrace_ranks *(*uctrace_ranks_begin_function)(void);

#endif
