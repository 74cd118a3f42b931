// Files of MPI on communicators with names, one of which is freed while its file is open; one file
// after the other, so that handles are used again; and windows in the same way. The communicator
// and file of each call are written as truth. Any number of ranks.
//
//     files TRUTH-PREFIX FOLDER

#include "common.h"

enum { kInts = 1000 };

static int rank, size;
static int out[kInts], in[kInts];

static void moved(const char* function, const char* comm, size_t bytes, size_t recv_bytes) {
  fprintf(truth_file,
          "{\"function\":\"MPI_%s\",\"comm\":\"%s\",\"bytes\":%zu,\"recv_bytes\":%zu}\n", function,
          comm, bytes, recv_bytes);
}

static void on(const char* function, const char* comm) { moved(function, comm, 0, 0); }

static MPI_Comm named(const char* name) {
  MPI_Comm comm;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  MPI_Comm_set_name(comm, name);
  return comm;
}

static void write_and_read(const char* folder, const char* name, int free_early) {
  char path[4096];
  MPI_Comm comm = named(name);
  MPI_File file;
  MPI_Request request;
  const MPI_Offset at = (MPI_Offset)rank * (MPI_Offset)sizeof out;
  snprintf(path, sizeof path, "%s/%s", folder, name);
  on("File_open", name);
  if (MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file) !=
      MPI_SUCCESS) {
    fail("rank %d: cannot open %s", rank, path);
  }
  if (free_early) MPI_Comm_free(&comm);
  for (int i = 0; i < kInts; ++i) out[i] = rank * kInts + i;
  moved("File_write_at_all", name, sizeof out, 0);
  MPI_File_write_at_all(file, at, out, kInts, MPI_INT, MPI_STATUS_IGNORE);
  on("File_sync", name);
  MPI_File_sync(file);
  moved("File_iread_at", name, 0, sizeof in);
  MPI_File_iread_at(file, at, in, kInts, MPI_INT, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (memcmp(in, out, sizeof in) != 0) fail("rank %d: read something else", rank);
  on("File_close", name);
  MPI_File_close(&file);
  if (!free_early) MPI_Comm_free(&comm);
}

static void put_and_fence(const char* name, int free_early) {
  MPI_Comm comm = named(name);
  MPI_Win window;
  on("Win_create", name);
  MPI_Win_create(in, sizeof in, sizeof in[0], MPI_INFO_NULL, comm, &window);
  if (free_early) MPI_Comm_free(&comm);
  on("Win_fence", name);
  MPI_Win_fence(0, window);
  moved("Put", name, sizeof out, 0);
  MPI_Put(out, kInts, MPI_INT, (rank + 1) % size, 0, kInts, MPI_INT, window);
  on("Win_fence", name);
  MPI_Win_fence(0, window);
  on("Win_free", name);
  MPI_Win_free(&window);
  if (!free_early) MPI_Comm_free(&comm);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  open_truth(argc == 3 ? argv[1] : NULL, rank);
  if (truth_file == NULL) fail("usage: files TRUTH-PREFIX FOLDER");
  write_and_read(argv[2], "first", 0);
  write_and_read(argv[2], "second", 1);
  write_and_read(argv[2], "third", 0);
  put_and_fence("fourth", 1);
  put_and_fence("fifth", 0);
  close_truth();
  MPI_Finalize();
  return 0;
}
