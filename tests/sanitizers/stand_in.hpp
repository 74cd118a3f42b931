// The tests' interface to the stand-ins for UCX and MPI, beyond the functions of these libraries.
// Both are one shared library, compiled with the sanitizer, too.
#pragma once

// Starts and stops the threads on which operations end. All that was begun has ended after `stop`.
extern "C" void stand_in_start();
extern "C" void stand_in_stop();

// UCX's hooks for device memory: notifies observers that a range was allocated, or is about to be
// freed. Its cache classifies memory by `is_device`; at first all is host memory.
extern "C" void stand_in_memory_event(bool allocated, void* begin, unsigned long bytes);
extern "C" void stand_in_memory_types(bool (*is_device)(const void*));
inline constexpr unsigned kStandInDevice = 3;  // what this UCX calls the GPU

// The MPI: handles as MPICH has them. MPI_Recv, MPI_Wait and the like return at once.
using StandInComm = int;
inline constexpr StandInComm kStandInWorld = 0x44000000;
inline constexpr int kStandInChar = 0x4c000101;
extern "C" {
int MPI_Init_thread(int* count, char*** arguments, int wanted, int* provided);
int MPI_Finalize();
int MPI_Send(const void* buffer, int count, int datatype, int to, int tag, StandInComm comm);
int MPI_Irecv(void* buffer, int count, int datatype, int from, int tag, StandInComm comm,
              int* request);
int MPI_Wait(int* request, int* status);
int MPI_Comm_dup(StandInComm comm, StandInComm* duplicate);
int MPI_Comm_free(StandInComm* comm);
}
