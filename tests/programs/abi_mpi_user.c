// Calls of a program that was compiled with the header of MPI's standard ABI (abi_mpi.c).
#include <stdint.h>
#include <stdio.h>

typedef intptr_t Handle;
int MPI_Init(int* argc, char*** argv);
int MPI_Send(const void* data, int count, Handle type, int to, int tag, Handle comm);
int MPI_Recv(void* data, int count, Handle type, int from, int tag, Handle comm, void* status);
int MPI_Irecv(void* data, int count, Handle type, int from, int tag, Handle comm, Handle* request);
int MPI_Wait(Handle* request, void* status);
int MPI_Bcast(void* data, int count, Handle type, int root, Handle comm);
int MPI_Allgather(const void* in, int count, Handle type, void* out, int out_count, Handle out_type,
                  Handle comm);
int MPI_Finalize(void);

enum { kWorld = 0x101, kSelf = 0x102, kByte = 0x247, kPairs = 0x1003, kRequestNull = 0x180 };
enum { kAnySource = -1, kAnyTag = -2, kProcNull = -3 };

int main(int argc, char** argv) {
  char data[64] = "";
  void* in_place = (void*)1;
  int status[8];
  MPI_Init(&argc, &argv);
  MPI_Send(data, 5, kByte, 0, 7, kSelf);
  MPI_Send(data, 6, kByte, kProcNull, 8, kWorld);
  MPI_Recv(data, 3, kPairs, kAnySource, kAnyTag, kWorld, status);
  Handle request = 0, none = kRequestNull;
  MPI_Irecv(data, 4, kByte, 0, 9, kWorld, &request);
  MPI_Wait(&request, status);
  MPI_Wait(&none, status);
  MPI_Bcast(data, 2, kByte, 0, kWorld);
  MPI_Allgather(in_place, 0, kByte, data, 2, kByte, kWorld);
  puts("done");
  return MPI_Finalize();
}
