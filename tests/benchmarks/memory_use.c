// Resident memory while THREADS threads each exchange MESSAGES messages with their own rank.
//
// usage: memory_use THREADS MESSAGES
#include <mpi.h>
#include <pthread.h>

#include "measure.h"

static unsigned long messages;
static int rank;
static pthread_barrier_t all_done, printed;

static void* exchange(void* tag_pointer) {
  const int tag = *(const int*)tag_pointer;
  char out[8] = "", in[8];
  for (unsigned long i = 0; i < messages; ++i) {
    MPI_Request request;
    MPI_Irecv(in, sizeof in, MPI_CHAR, rank, tag, MPI_COMM_WORLD, &request);
    MPI_Send(out, sizeof out, MPI_CHAR, rank, tag, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  pthread_barrier_wait(&all_done);
  pthread_barrier_wait(&printed);
  return NULL;
}

int main(int argc, char** argv) {
  enum { kMaxThreads = 64 };
  const unsigned long threads = number_argument(argc, argv, 1);
  messages = number_argument(argc, argv, 2);
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (provided != MPI_THREAD_MULTIPLE || threads < 1 || threads > kMaxThreads) {
    fprintf(stderr, "%s: no MPI_THREAD_MULTIPLE, or not 1 to %d threads\n", argv[0], kMaxThreads);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  pthread_barrier_init(&all_done, NULL, (unsigned)threads + 1);
  pthread_barrier_init(&printed, NULL, (unsigned)threads + 1);
  pthread_t ids[kMaxThreads];
  int tags[kMaxThreads];
  for (unsigned long i = 0; i < threads; ++i) {
    tags[i] = (int)i;
    if (pthread_create(&ids[i], NULL, exchange, &tags[i]) != 0) {
      fprintf(stderr, "%s: cannot start a thread\n", argv[0]);
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
  }
  pthread_barrier_wait(&all_done);
  if (rank == 0) {
    printf("{");
    print_memory();
    printf("}\n");
  }
  pthread_barrier_wait(&printed);
  for (unsigned long i = 0; i < threads; ++i) pthread_join(ids[i], NULL);
  MPI_Finalize();
  return 0;
}
