// The table of calls of libraries above UCX (docs/libraries.md).
#pragma once

#include <tuple>

#include "log-merger/model/library_call_rows.hpp"
#include "log-merger/store/store_columns.hpp"

namespace uctrace::store {

template <>
struct Table<LibraryCallRow> {
  using Row = LibraryCallRow;
  static constexpr const char* name = "library_calls";
  static constexpr auto columns = std::tuple{
      column("process", &Row::process, "process that called", Unit::process),
      column("lane", &Row::lane, "recording thread of that process"),
      column("library", &Row::library, "the library", Unit::text),
      column("function", &Row::function, "its function", Unit::text),
      column("peer", &Row::peer, "PE or rank, as the call names it; -2^31 = the call has none"),
      column("bytes", &Row::bytes, "that its arguments ask for, -1 = these do not tell",
             Unit::bytes),
      column("collective", &Row::collective, "collective operation of UCC", Unit::text),
      column("layers", &Row::layers, "UCC's layers that made its tasks", Unit::text),
      column("algorithm", &Row::algorithm, "by which algorithm", Unit::text),
      column("scope", &Row::scope, "handle of its context or team, 0 = has none", Unit::address),
      column("request", &Row::request, "handle of its request, 0 = has none", Unit::address),
      column("status", &Row::status, "what it returned, 0 if that is no status"),
      column("call", &Row::call, "MPI call that it was made in", Unit::mpi_call),
      column("stack", &Row::stack, "where it was called", Unit::stack),
      column("operations", &Row::operations, "UCP operations that its thread posted within it"),
      column("operation_bytes", &Row::operation_bytes, "that they moved", Unit::bytes),
      column("inferred_operations", &Row::inferred_operations,
             "further UCP operations that are inferred to be for it"),
      column("inferred_bytes", &Row::inferred_bytes, "that these moved", Unit::bytes),
      column("t_start_ns", &Row::t_start_ns, "start of the call", Unit::ns),
      difference("t_end_ns_minus_t_start_ns", &Row::t_end_ns, &Row::t_start_ns, "end of the call",
                 Unit::ns),
  };
};

}  // namespace uctrace::store
