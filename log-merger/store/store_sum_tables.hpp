// The tables of sums over others: occurring values, and similar rows.
#pragma once

#include <tuple>

#include "log-merger/model/model.hpp"
#include "log-merger/store/store_columns.hpp"

namespace uctrace::store {

template <>
struct Table<Facet> {
  static constexpr const char* name = "facets";
  static constexpr auto columns = std::tuple{
      column("of", &Facet::of, "what has the value"),
      column("text", &Facet::text, "the value, of what is a text", Unit::text),
      column("rank", &Facet::rank, "of a source or destination, -1 = unknown", Unit::rank),
      column("process", &Facet::process, "of a source or destination", Unit::process),
  };
};

template <>
struct Table<MessageSum> {
  using Row = MessageSum;
  static constexpr const char* name = "message_sums";
  static constexpr auto columns = std::tuple{
      column("kind", &Row::kind, "which UCP interface carried them"),
      column("src", &Row::src, "where the data lay, -1 = unknown", Unit::rank),
      column("dst", &Row::dst, "where the data went, -1 = unknown", Unit::rank),
      column("src_process", &Row::src_process, "where the data lay", Unit::process),
      column("dst_process", &Row::dst_process, "where the data went", Unit::process),
      column("src_memory", &Row::src_memory, "memory the data left"),
      column("dst_memory", &Row::dst_memory, "memory the data reached"),
      column("src_gpu", &Row::src_gpu, "whose memory the data left", Unit::gpu),
      column("dst_gpu", &Row::dst_gpu, "whose memory the data reached", Unit::gpu),
      column("mpi", &Row::mpi, "MPI function that asked", Unit::text),
      column("comm", &Row::comm, "communicator: the program's name, else its own", Unit::text),
      column("communicator", &Row::communicator, "communicator", Unit::communicator),
      column("protocol", &Row::protocol, "UCP protocol", Unit::text),
      column("caller", &Row::caller, "process whose MPI call asked", Unit::process),
      column("call_site", &Row::call_site, "where the program asked", Unit::call_site),
      column("size", &Row::size, "bits of the length of each: below 2^size, 0 = empty"),
      column("messages", &Row::messages, "how many"),
      column("bytes", &Row::bytes, "their payload", Unit::bytes),
      column("first_hop", &Row::first_hop, "its first row of hop_sums", Unit::hop_sum),
      column("hops", &Row::hops, "number of its rows of hop_sums"),
  };
};

template <>
struct Table<HopSum> {
  using Row = HopSum;
  static constexpr const char* name = "hop_sums";
  static constexpr auto columns = std::tuple{
      column("issued_by", &Row::issued_by, "side that posted the operations"),
      column("role", &Row::role, "what they carried"),
      column("transport", &Row::transport, "UCT transport", Unit::text),
      column("device", &Row::device, "device of the issuing side", Unit::text),
      column("remote_device", &Row::remote_device, "device of the other side", Unit::text),
      column("network", &Row::network, "1 = they are network cards"),
      column("op", &Row::op, "UCT operation", Unit::text),
      column("from_memory", &Row::from_memory, "memory that they took data from"),
      column("to_memory", &Row::to_memory, "memory that they brought it to"),
      column("from_gpu", &Row::from_gpu, "whose memory", Unit::gpu),
      column("to_gpu", &Row::to_gpu, "whose memory", Unit::gpu),
      column("count", &Row::count, "operations"),
      column("payload_bytes", &Row::payload_bytes, "of the messages", Unit::bytes),
      difference("wire_bytes_minus_payload_bytes", &Row::wire_bytes, &Row::payload_bytes,
                 "payload and headers handed to UCT", Unit::bytes),
  };
};

template <>
struct Table<CallSum> {
  using Row = CallSum;
  static constexpr const char* name = "call_sums";
  static constexpr auto columns = std::tuple{
      column("process", &Row::process, "process that called", Unit::process),
      column("function", &Row::function, "MPI function", Unit::text),
      column("comm", &Row::comm, "communicator of the calls, as in mpi_calls", Unit::text),
      column("communicator", &Row::communicator, "the same", Unit::communicator),
      column("part_communicator", &Row::part_communicator, "that the time went to",
             Unit::communicator),
      column("call_site", &Row::call_site, "where the program called", Unit::call_site),
      column("has_stack", &Row::has_stack, "1 = it is known where they were called"),
      column("size", &Row::size,
             "bits of the greater of bytes and recv_bytes of each: below 2^size, 0 = none"),
      column("calls", &Row::calls, "those of which the greatest part of the time went there"),
      column("timed", &Row::timed, "of these, with known start and end"),
      column("bytes", &Row::bytes, "that these hand over", Unit::bytes),
      column("recv_bytes", &Row::recv_bytes, "that these receive or fetch", Unit::bytes),
      column("ns", &Row::ns, "whole time of these", Unit::ns),
      column("part_ns", &Row::part_ns, "time that went to part_communicator", Unit::ns),
      column("part_waiting_ns", &Row::part_waiting_ns, "of part_ns: for other processes", Unit::ns),
      column("part_unknown_ns", &Row::part_unknown_ns, "of part_ns: perhaps waiting", Unit::ns),
  };
};

template <>
struct Table<OperationSum> {
  using Row = OperationSum;
  static constexpr const char* name = "operation_sums";
  static constexpr auto columns = std::tuple{
      column("process", &Row::process, "process that called", Unit::process),
      column("function", &Row::function, "UCP function", Unit::text),
      column("call_site", &Row::call_site, "where the program called", Unit::call_site),
      column("message_sum", &Row::message_sum, "what counts their messages", Unit::message_sum),
      column("calls", &Row::calls, "how many"),
      column("timed", &Row::timed, "of these, with known start and end"),
      column("bytes", &Row::bytes, "length of their buffers", Unit::bytes),
      column("ns", &Row::ns, "their time", Unit::ns),
  };
};

template <>
struct Table<TransferSum> {
  using Row = TransferSum;
  static constexpr const char* name = "transfer_sums";
  static constexpr auto columns = std::tuple{
      column("process", &Row::process, "process that posted them", Unit::process),
      column("peer_process", &Row::peer_process, "process at the other end", Unit::process),
      column("transport", &Row::transport, "UCT transport", Unit::text),
      column("op", &Row::op, "UCT operation", Unit::text),
      column("role", &Row::role, "what they carried"),
      column("transfers", &Row::transfers, "how many"),
      column("payload_bytes", &Row::payload_bytes, "of messages among them", Unit::bytes),
      column("wire_bytes", &Row::wire_bytes, "as handed to UCT", Unit::bytes),
  };
};

}  // namespace uctrace::store
