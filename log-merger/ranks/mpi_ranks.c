/* The library of ranks_plugin.h over MPI. */
#include <mpi.h>
#include <string.h>

#include "log-merger/ranks/ranks_plugin.h"

enum { kTag = 1, kPiece = 4 << 20 };

static struct uctrace_ranks ranks;
/* Buffer for MPI: the command's own memory may be mapped from a file, which network cards may be
 * unable to register. */
static char piece[kPiece];

static int length_of_piece(uint64_t count, uint64_t at) {
  return (int)(count - at < kPiece ? count - at : kPiece);
}

static int send_all(const char *bytes, uint64_t count, int to) {
  int error = MPI_SUCCESS;
  for (uint64_t at = 0; at < count && error == MPI_SUCCESS; at += kPiece) {
    const int length = length_of_piece(count, at);
    memcpy(piece, bytes + at, (size_t)length);
    error = MPI_Send(piece, length, MPI_BYTE, to, kTag, MPI_COMM_WORLD);
  }
  return error;
}

static int receive_all(char *bytes, uint64_t count, int from) {
  for (uint64_t at = 0; at < count; at += kPiece) {
    const int length = length_of_piece(count, at);
    const int error =
        MPI_Recv(piece, length, MPI_BYTE, from, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS) return error;
    memcpy(bytes + at, piece, (size_t)length);
  }
  return MPI_SUCCESS;
}

static int gather(const void *bytes, uint64_t count,
                  void *(*room)(void *context, int rank, uint64_t count), void *context) {
  if (ranks.rank != 0) {
    const int error = MPI_Send(&count, 1, MPI_UINT64_T, 0, kTag, MPI_COMM_WORLD);
    return error != MPI_SUCCESS ? error : send_all(bytes, count, 0);
  }
  memcpy(room(context, 0, count), bytes, count);
  for (int from = 1; from < ranks.size; ++from) {
    uint64_t more = 0;
    int error =
        MPI_Recv(&more, 1, MPI_UINT64_T, from, kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (error == MPI_SUCCESS) error = receive_all(room(context, from, more), more, from);
    if (error != MPI_SUCCESS) return error;
  }
  return MPI_SUCCESS;
}

static int broadcast(void *bytes, uint64_t count) {
  for (uint64_t at = 0; at < count; at += kPiece) {
    const int length = length_of_piece(count, at);
    if (ranks.rank == 0) memcpy(piece, (char *)bytes + at, (size_t)length);
    const int error = MPI_Bcast(piece, length, MPI_BYTE, 0, MPI_COMM_WORLD);
    if (error != MPI_SUCCESS) return error;
    memcpy((char *)bytes + at, piece, (size_t)length);
  }
  return MPI_SUCCESS;
}

static int count_on_this_host(void) {
  MPI_Comm host;
  int count = 1;
  if (MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host) ==
      MPI_SUCCESS) {
    MPI_Comm_size(host, &count);
    MPI_Comm_free(&host);
  }
  return count;
}

static void end(void) { MPI_Finalize(); }

static void end_all(int status) { MPI_Abort(MPI_COMM_WORLD, status); }

const struct uctrace_ranks *uctrace_ranks_begin(void);
const struct uctrace_ranks *uctrace_ranks_begin(void) {
  int provided = 0;
  if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS) return NULL;
  if (provided < MPI_THREAD_SERIALIZED) {
    MPI_Finalize();
    return NULL;
  }
  ranks.version = UCTRACE_RANKS_VERSION;
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.size);
  ranks.on_this_host = count_on_this_host();
  ranks.gather = gather;
  ranks.broadcast = broadcast;
  ranks.end = end;
  ranks.abort = end_all;
  return &ranks;
}
