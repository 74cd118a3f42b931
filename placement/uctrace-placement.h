/* Ranks in another order, so that those that send each other much are on one node: inside a job,
 * while it runs. Needs nothing else of uctrace. Link with -luctrace-placement.
 *
 * Include mpi.h before, and uctrace_placement_reorder() is there, for any MPI and any language that
 * takes C headers. */
#ifndef UCTRACE_PLACEMENT_H
#define UCTRACE_PLACEMENT_H

#include <stdint.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  UCTRACE_PLACEMENT_OK = 0,
  UCTRACE_PLACEMENT_KEPT = 1,     /* the order of now is as good: less than 5 % would be gained */
  UCTRACE_PLACEMENT_INVALID = -1, /* an argument; nothing was written */
  UCTRACE_PLACEMENT_NO_MEMORY = -2
};

/* For each process the rank that it is to have in the new order.
 *
 * matrix: ranks x ranks, row by row: what the rank of the row sent to that of the column, as bytes or
 * messages. node_of_rank: a number of the node of each rank, the same one for ranks that share a node.
 * keys: `ranks` numbers, a permutation: the new rank of the process that has rank i now. Used as the
 * keys of MPI_Comm_split. gain: the part of what goes between nodes that is saved, 0 to 1; may be
 * NULL. The same on every process for the same arguments, and independent of MPI. Where it returns
 * UCTRACE_PLACEMENT_KEPT the keys are 0, 1, 2, ... */
int uctrace_placement_keys(int ranks, const uint64_t *matrix, const int *node_of_rank, int *keys,
                           double *gain);

#ifdef __cplusplus
}
#endif

#ifdef MPI_VERSION
/* Collective over `comm`. node: a number of the node of this process, the same one for processes that
 * share a node. row: what this rank sent to each rank of `comm`, since whenever. reordered: a new
 * communicator of the same processes, to be freed by MPI_Comm_free(): its rank r is where the work of
 * rank r of `comm` belongs, with its data. Returns the same on every rank: as above;
 * UCTRACE_PLACEMENT_INVALID also where MPI failed. Rank 0 holds the whole matrix: 8 bytes for each
 * pair. */
static inline int uctrace_placement_reorder_on(MPI_Comm comm, int node, const uint64_t *row,
                                               MPI_Comm *reordered, double *gain) {
  int rank, ranks, key = 0, result = UCTRACE_PLACEMENT_OK;
  double saved = 0;
  uint64_t *matrix = NULL;
  int *nodes = NULL, *keys = NULL;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &ranks);
  if (rank == 0) {
    matrix = (uint64_t *)malloc(sizeof(uint64_t) * (size_t)ranks * (size_t)ranks);
    nodes = (int *)malloc(sizeof(int) * (size_t)ranks);
    keys = (int *)malloc(sizeof(int) * (size_t)ranks);
    if (matrix == NULL || nodes == NULL || keys == NULL) result = UCTRACE_PLACEMENT_NO_MEMORY;
  }
  MPI_Bcast(&result, 1, MPI_INT, 0, comm);
  if (result == UCTRACE_PLACEMENT_OK) {
    MPI_Gather(row, ranks, MPI_UINT64_T, matrix, ranks, MPI_UINT64_T, 0, comm);
    MPI_Gather(&node, 1, MPI_INT, nodes, 1, MPI_INT, 0, comm);
    if (rank == 0) result = uctrace_placement_keys(ranks, matrix, nodes, keys, &saved);
    MPI_Bcast(&result, 1, MPI_INT, 0, comm);
    MPI_Bcast(&saved, 1, MPI_DOUBLE, 0, comm);
  }
  if (result >= 0) {
    MPI_Scatter(keys, 1, MPI_INT, &key, 1, MPI_INT, 0, comm);
    if (MPI_Comm_split(comm, 0, key, reordered) != MPI_SUCCESS) result = UCTRACE_PLACEMENT_INVALID;
  }
  free(matrix);
  free(nodes);
  free(keys);
  if (gain != NULL) *gain = saved;
  return result;
}

/* The same, where MPI says which processes share a node. */
static inline int uctrace_placement_reorder(MPI_Comm comm, const uint64_t *row, MPI_Comm *reordered,
                                            double *gain) {
  int node;
  MPI_Comm of_node;
  MPI_Comm_rank(comm, &node); /* a node is named by its first rank */
  if (MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, node, MPI_INFO_NULL, &of_node) != MPI_SUCCESS) {
    return UCTRACE_PLACEMENT_INVALID;
  }
  MPI_Bcast(&node, 1, MPI_INT, 0, of_node);
  MPI_Comm_free(&of_node);
  return uctrace_placement_reorder_on(comm, node, row, reordered, gain);
}
#endif

#endif
