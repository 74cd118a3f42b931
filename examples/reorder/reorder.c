/* A job that measures what its ranks send each other and then reorders itself once, so that ranks that
 * send each other much are on one node.
 *
 *   reorder [ROUNDS]
 *
 * Rank r exchanges blocks with rank r + n/2. If ranks are packed by node, all of this goes between
 * nodes until the ranks are reordered. The job prints the traffic between nodes before and after.
 *
 * UCTRACE_EXAMPLE_NODES=N pretends that N nodes share the ranks in their order, to try it on one
 * machine. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <uctrace-placement.h>

enum { kBlock = 64 * 1024 };

struct Job {
  MPI_Comm comm;
  int rank, ranks;
  uint64_t *sent; /* to each rank, in bytes */
  char *buffer;
};

static void use(struct Job *job, MPI_Comm comm) {
  job->comm = comm;
  MPI_Comm_rank(comm, &job->rank);
  MPI_Comm_size(comm, &job->ranks);
  for (int i = 0; i < job->ranks; ++i) job->sent[i] = 0;
}

static void exchange(struct Job *job, int rounds) {
  const int partner = (job->rank + job->ranks / 2) % job->ranks;
  for (int i = 0; i < rounds; ++i) {
    MPI_Sendrecv(job->buffer, kBlock, MPI_CHAR, partner, 0, job->buffer + kBlock, kBlock, MPI_CHAR,
                 partner, 0, job->comm, MPI_STATUS_IGNORE);
    job->sent[partner] += kBlock;
  }
}

/* A number for the node that a process runs on. */
static int node_of(int world_rank, int ranks) {
  const char *nodes = getenv("UCTRACE_EXAMPLE_NODES");
  if (nodes != NULL && atoi(nodes) > 0) return (int)((int64_t)world_rank * atoi(nodes) / ranks);
  MPI_Comm of_node;
  int node = world_rank;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, world_rank, MPI_INFO_NULL, &of_node);
  MPI_Bcast(&node, 1, MPI_INT, 0, of_node);
  MPI_Comm_free(&of_node);
  return node;
}

static long long between_nodes(const struct Job *job, int node) {
  int *nodes = malloc(sizeof(int) * (size_t)job->ranks);
  long long own = 0, all = 0;
  if (nodes == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  MPI_Allgather(&node, 1, MPI_INT, nodes, 1, MPI_INT, job->comm);
  for (int i = 0; i < job->ranks; ++i) {
    if (nodes[i] != node) own += (long long)job->sent[i];
  }
  MPI_Allreduce(&own, &all, 1, MPI_LONG_LONG, MPI_SUM, job->comm); /* rank 0 may be another one later */
  free(nodes);
  return all;
}

int main(int count, char **arguments) {
  MPI_Init(&count, &arguments);
  const int rounds = count > 1 ? atoi(arguments[1]) : 10;
  struct Job job = {.comm = MPI_COMM_WORLD};
  int ranks, world_rank;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm_rank(MPI_COMM_WORLD, &world_rank);
  job.sent = calloc((size_t)ranks, sizeof *job.sent);
  job.buffer = calloc(2, kBlock);
  if (job.sent == NULL || job.buffer == NULL) MPI_Abort(MPI_COMM_WORLD, 1);
  const int node = node_of(world_rank, ranks);

  use(&job, MPI_COMM_WORLD);
  exchange(&job, rounds);
  const long long before = between_nodes(&job, node);

  MPI_Comm reordered;
  double gain;
  const int result = uctrace_placement_reorder_on(MPI_COMM_WORLD, node, job.sent, &reordered, &gain);
  if (result < 0) MPI_Abort(MPI_COMM_WORLD, 1);

  use(&job, reordered);
  exchange(&job, rounds);
  const long long after = between_nodes(&job, node);
  if (job.rank == 0) {
    printf("between nodes: %lld B before, %lld B after, %.0f %% gained\n", before, after,
           100 * gain);
  }
  MPI_Comm_free(&reordered);
  free(job.buffer);
  free(job.sent);
  MPI_Finalize();
  return 0;
}
