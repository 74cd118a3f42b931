// The tables of partitioned communication (docs/partitions.md).
#pragma once

#include <tuple>

#include "log-merger/model/partition_rows.hpp"
#include "log-merger/store/store_columns.hpp"

namespace uctrace::store {

template <>
struct Table<PartitionRequest> {
  using Row = PartitionRequest;
  static constexpr const char* name = "partition_requests";
  static constexpr auto columns = std::tuple{
      column("sends", &Row::sends, "made by MPI_Psend_init, else by MPI_Precv_init"),
      column("match", &Row::match, "whether its partner is known, or why not"),
      column("process", &Row::process, "process that made it", Unit::process),
      column("peer", &Row::peer, "world rank of the other side", Unit::rank),
      column("peer_process", &Row::peer_process, "the other side", Unit::process),
      column("communicator", &Row::communicator, "communicator", Unit::communicator),
      column("tag", &Row::tag, "MPI tag"),
      column("partitions", &Row::partitions, "how many it has"),
      column("starts", &Row::starts, "how often it was started"),
      column("bytes", &Row::bytes, "of all partitions", Unit::bytes),
      column("partner", &Row::partner, "request of the other side", Unit::partition_request),
      column("call", &Row::call, "MPI call that made it", Unit::mpi_call),
      column("t_init_ns", &Row::t_init_ns, "that call was left", Unit::ns),
  };
};

template <>
struct Table<PartitionOperation> {
  using Row = PartitionOperation;
  static constexpr const char* name = "partition_operations";
  static constexpr auto columns = std::tuple{
      column("request", &Row::request, "request that was started", Unit::partition_request),
      column("number", &Row::number, "which use of it, from 0"),
      column("partner", &Row::partner, "operation of the other side", Unit::partition_operation),
      column("start_call", &Row::start_call, "MPI call that started it", Unit::mpi_call),
      column("complete_call", &Row::complete_call, "MPI call that completed it", Unit::mpi_call),
      column("ready_call", &Row::ready_call, "of a send: call that made the last partition ready",
             Unit::mpi_call),
      column("t_start_ns", &Row::t_start_ns, "start_call was entered", Unit::ns),
      column("t_complete_ns", &Row::t_complete_ns, "complete_call was left", Unit::ns),
      column("t_ready_ns", &Row::t_ready_ns, "ready_call was entered", Unit::ns),
      column("ready", &Row::ready, "of a send: partitions that became ready"),
      column("arrived", &Row::arrived,
             "of a receive: partitions that MPI_Parrived saw before it was complete"),
  };
};

template <>
struct Table<PartitionEvent> {
  using Row = PartitionEvent;
  static constexpr const char* name = "partition_events";
  static constexpr auto columns = std::tuple{
      column("kind", &Row::kind, "which of the nine events"),
      column("process", &Row::process, "process", Unit::process),
      column("lane", &Row::lane, "recording thread of the process"),
      column("request", &Row::request, "request", Unit::partition_request),
      column("operation", &Row::operation, "use of the request", Unit::partition_operation),
      column("partition", &Row::partition, "partition, -1 = of all"),
      column("call", &Row::call, "MPI call", Unit::mpi_call),
      column("t_ns", &Row::t_ns, "time of the event", Unit::ns),
  };
};

template <>
struct Table<PartitionLine> {
  using Row = PartitionLine;
  static constexpr const char* name = "partition_lines";
  static constexpr auto columns = std::tuple{
      column("send", &Row::send, "send", Unit::partition_operation),
      column("receive", &Row::receive, "receive", Unit::partition_operation),
      column("send_partition", &Row::send_partition, "partition of the send"),
      column("receive_partition", &Row::receive_partition, "partition of the receive"),
      column("bytes", &Row::bytes, "what both have in common", Unit::bytes),
      column("t_ready_ns", &Row::t_ready_ns, "MPI_Pready of the one was entered", Unit::ns),
      column("t_arrived_ns", &Row::t_arrived_ns, "the call that first showed the other was left",
             Unit::ns),
      column("arrived_call", &Row::arrived_call, "that call", Unit::mpi_call),
      column("by_parrived", &Row::by_parrived, "it was an MPI_Parrived, else a wait or test"),
  };
};

template <>
struct Table<PartitionPolls> {
  using Row = PartitionPolls;
  static constexpr const char* name = "partition_polls";
  static constexpr auto columns = std::tuple{
      column("process", &Row::process, "process", Unit::process),
      column("calls", &Row::calls, "calls of MPI_Parrived that found nothing and have no record"),
      column("ns", &Row::ns, "time in them", Unit::ns),
  };
};

}  // namespace uctrace::store
