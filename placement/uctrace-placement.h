/* Reorders the ranks of a running job so that ranks that send each other much are on one node. Needs
 * nothing else of uctrace. Link with -luctrace-placement.
 *
 * Include mpi.h first to get uctrace_placement_reorder(), for any MPI and any language that takes C
 * headers. */
#ifndef UCTRACE_PLACEMENT_H
#define UCTRACE_PLACEMENT_H

#include <stdint.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  UCTRACE_PLACEMENT_OK = 0,
  UCTRACE_PLACEMENT_KEPT = 1,     /* the present order is kept: another one would gain less than 5 % */
  UCTRACE_PLACEMENT_INVALID = -1, /* an argument; nothing was written */
  UCTRACE_PLACEMENT_NO_MEMORY = -2
};

/* The new rank of each process.
 *
 * matrix: ranks x ranks, row by row: what the row's rank sent to the column's rank, in bytes or
 * messages. node_of_rank: a number for the node of each rank; ranks on one node have the same number.
 * keys: receives a permutation of `ranks` numbers: the new rank of the process that has rank i now, to
 * be used as keys of MPI_Comm_split. gain: receives the part of the traffic between nodes that is
 * saved, 0 to 1; may be NULL. Deterministic: the same arguments give the same result on every process.
 * Does not use MPI. On UCTRACE_PLACEMENT_KEPT the keys are 0, 1, 2, ... ... */
int uctrace_placement_keys(int ranks, const uint64_t *matrix, const int *node_of_rank, int *keys,
                           double *gain);

#ifdef __cplusplus
}
#endif

#ifdef MPI_VERSION
/* Collective over `comm`. node: a number for the node of this process, the same for processes on one
 * node. row: what this rank sent to each rank of `comm`, since any time. reordered: receives a new
 * communicator of the same processes, to be freed with MPI_Comm_free(). Its rank r should do the work
 * of rank r of `comm` and have its data. Returns the same on every rank: as above;
 * UCTRACE_PLACEMENT_INVALID also if MPI failed. Rank 0 holds the whole matrix: 8 bytes for each pair.
 * */
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

/* The same; MPI says which processes share a node. */
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
