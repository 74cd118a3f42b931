/* What the command needs of MPI, so that it needs no MPI itself: one small library for each MPI
 * gives it, and is opened under that MPI's launcher. One thread at a time calls. */
#ifndef UCTRACE_RANKS_PLUGIN_H
#define UCTRACE_RANKS_PLUGIN_H

#include <stdint.h>

#define UCTRACE_RANKS_VERSION 1u
#define UCTRACE_RANKS_BEGIN "uctrace_ranks_begin"

struct uctrace_ranks {
  uint32_t version;
  int rank, size;
  int on_this_host; /* of the ranks */
  /* Rank 0 gets from each rank, itself included and in their order, what it gives: room() returns
   * where the bytes of a rank go. Returns 0, or what MPI returned. */
  int (*gather)(const void *bytes, uint64_t count,
                void *(*room)(void *context, int rank, uint64_t count), void *context);
  /* `count` bytes of rank 0's to all. */
  int (*broadcast)(void *bytes, uint64_t count);
  /* After which nothing is called any more. */
  void (*end)(void);
  /* Ends all ranks. */
  void (*abort)(int status);
};

/* Begins MPI. NULL: it does not work here. */
typedef const struct uctrace_ranks *(*uctrace_ranks_begin_function)(void);

#endif
