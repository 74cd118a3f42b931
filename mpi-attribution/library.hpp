// The MPI library of this process: its constants, and its functions that answer questions about
// communicators and datatypes. These are local: nothing but Messaging communicates.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "event-log/recorder/own.hpp"
#include "mpi-attribution/call.h"

namespace uctrace::mpi {

using Word = UctraceWord;

// A handle as records hold it: the program's word without undefined upper bits.
using Handle = std::uint64_t;

// The library's PMPI functions for questions. They return MPI_SUCCESS (0), or run the error handler
// of the communicator (or of MPI_COMM_WORLD) and return an error: ask only what must succeed.
struct Inquiries {
  int (*get_library_version)(char*, int*);
  int (*initialized)(int*);
  int (*finalized)(int*);
  int (*query_thread)(int*);
  int (*comm_rank)(Word, int*);
  int (*comm_size)(Word, int*);
  int (*comm_test_inter)(Word, int*);
  int (*comm_remote_size)(Word, int*);
  int (*comm_group)(Word, Word*);
  int (*comm_remote_group)(Word, Word*);
  int (*comm_get_parent)(Word*);
  int (*group_size)(Word, int*);
  int (*group_translate_ranks)(Word, int, const int*, Word, int*);
  int (*group_free)(Word*);
  int (*type_size_x)(Word, std::int64_t*);
  int (*topo_test)(Word, int*);
  int (*cartdim_get)(Word, int*);
  int (*graph_neighbors_count)(Word, int, int*);
  int (*dist_graph_neighbors_count)(Word, int*, int*, int*);
};

// Tells the library's binary interface, at any time; nullptr before MPI 5.
using AbiVersion = int (*)(int* major, int* minor);

// Gives programs without MPI_Init their place in the world; nullptr before MPI 4.
struct Sessions {
  int (*group_from_session_pset)(Word, const char*, Word*);
  int (*group_rank)(Word, int*);
};

// Tell the neighbors in a topology; nullptr if any of them is missing.
struct Neighbors {
  int (*cart_shift)(Word, int, int, int*, int*);
  int (*graph_neighbors)(Word, int, int, int*);
  int (*dist_graph_neighbors)(Word, int, int*, int*, int, int*, int*);
};

// Describe datatypes (datatypes.cpp).
struct Describing {
  int (*type_get_envelope)(Word, int*, int*, int*, int*);
  // If the library has 64-bit counts, which the other function refuses to tell; else nullptr.
  int (*type_get_envelope_c)(Word, std::int64_t*, std::int64_t*, std::int64_t*, std::int64_t*,
                             int*);
  int (*type_get_extent_x)(Word, std::int64_t*, std::int64_t*);
  int (*type_get_true_extent_x)(Word, std::int64_t*, std::int64_t*);
  int (*type_get_name)(Word, char*, int*);
};

// Used to measure the clocks of hosts (clock_sync.cpp): none of these wait.
struct Messaging {
  int (*comm_idup)(Word, Word*, Word*);
  int (*comm_set_errhandler)(Word, Word);
  int (*iallgather)(const void*, int, Word, void*, int, Word, Word, Word*);
  int (*isend)(const void*, int, Word, int, int, Word, Word*);
  int (*irecv)(void*, int, Word, int, int, Word, Word*);
  int (*test)(Word*, int*, void*);
  int (*cancel)(Word*);
};

// Functions of MPI_T about the library's own variables (tool_calls.cpp). They need an initialised
// MPI_T, and return an error without it.
struct Tools {
  int (*pvar_get_num)(int*);
  int (*cvar_get_num)(int*);
  int (*category_get_info)(int, char*, int*, char*, int*, int*, int*, int*);
};

struct Library {
  Inquiries ask;
  Tools tools;
  const UctraceFlavour* flavour;
  Sessions sessions;
  Neighbors neighbors;
  Describing describing;
  bool can_describe;   // all functions exist
  bool records_polls;  // even polls that found nothing (UCTRACE_POLLS)
  Messaging messaging;
  bool can_message;     // the same
  bool int_partitions;  // MPI_Psend_init and MPI_Precv_init take an int, not an MPI_Count
  Word handle_mask;     // the bits of a word that are a handle's
  std::int32_t proc_null, any_source, any_tag, undefined, root;
  std::int32_t cartesian, graph, distributed_graph;
  const std::int32_t* combiners;  // UctraceFlavour::combiners
  Word in_place;
  Handle comm_null, comm_self, comm_world, datatype_null, no_op, request_null, byte, errors_return;
  Handle char_type, int_type, unsigned_long_type, all_pvar_handles;
  char version[128];  // first line of the library's version text

  // The handle in an argument.
  Handle handle(Word word) const { return word & handle_mask; }
  // The handle stored at an address; 0 for a null address.
  Handle handle_at(Word address) const {
    if (address == 0) return 0;
    Handle handle = 0;
    if (handle_mask == UINT32_MAX) {
      std::uint32_t half;
      std::memcpy(&half, reinterpret_cast<const void*>(address), sizeof half);
      return half;
    }
    std::memcpy(&handle, reinterpret_cast<const void*>(address), sizeof handle);
    return handle;
  }
  std::size_t handle_bytes() const { return handle_mask == UINT32_MAX ? 4 : 8; }
  // A request, or the handle of a message; 0 is MPI_REQUEST_NULL.
  Handle request(Word word) const {
    const Handle handle = this->handle(word);
    return handle == request_null ? 0 : handle;
  }
  Handle request_at(Word address, std::size_t position = 0) const {
    return address == 0 ? 0 : request(handle_at(address + position * handle_bytes()));
  }
};

// Filled before the first wrapper sees uctrace_mpi_recording; constant from then on.
UCTRACE_OWN extern Library library;

// A count among the arguments of a call.
inline std::int64_t count_of(Word word, bool is_big) {
  return is_big ? static_cast<std::int64_t>(word) : static_cast<std::int32_t>(word);
}
inline std::int64_t count_of(Word word, const UctraceCall& call) {
  return count_of(word, call.big_counts);
}

// Whether any MPI function was called through this library. Inherited by a fork child.
bool was_called();

// A mask for UctraceCall::posting: all bits once MPI is initialised below MPI_THREAD_MULTIPLE, else
// none.
UCTRACE_OWN extern constinit std::atomic<std::uint8_t> may_share_ticks;

}  // namespace uctrace::mpi
