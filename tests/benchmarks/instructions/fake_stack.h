// An MPI over a UCP over a UCT that move nothing: any extra instructions in a recorded job belong
// to the recorder. Calls go through the PLT as in the real libraries.
#pragma once

#include <stdbool.h>
#include <ucp/api/ucp.h>
#include <uct/api/uct.h>

// The endpoint of the only transport, to itself.
extern uct_ep_t fake_uct_endpoint;

// Delivers a message, as progress would.
void fake_uct_arrive(uint8_t am_id, void* data, size_t length);

// Ends the zcopy that is in progress.
void fake_uct_complete(void);

// Ends the request that UCP returned last.
void fake_ucp_complete(void);

// Whether a layer calls the one below it; if not, its calls do nothing. `ends_later`: sends return
// a request.
extern struct FakeStack { bool mpi_uses_ucp, ucp_uses_uct, ends_later; } fake_stack;

// With the binary interface of MPICH.
enum { kFakeWorld = 0x44000000, kFakeChar = 0x4c000101 };
int MPI_Init(int* argc, char*** argv);
int MPI_Finalize(void);
int MPI_Irecv(void* buffer, int count, int datatype, int source, int tag, int comm, int* request);
int MPI_Send(const void* buffer, int count, int datatype, int target, int tag, int comm);
int MPI_Sendrecv(const void* out, int out_count, int out_type, int target, int out_tag, void* in,
                 int in_count, int in_type, int source, int in_tag, int comm, void* status);
int MPI_Wait(int* request, void* status);
