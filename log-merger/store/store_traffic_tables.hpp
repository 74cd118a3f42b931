// The tables of the run's traffic as cells, and over time.
#pragma once

#include <tuple>

#include "log-merger/model/model.hpp"
#include "log-merger/store/store_columns.hpp"

namespace uctrace::store {

template <>
struct Table<PathStep> {
  using Row = PathStep;
  static constexpr const char* name = "path_steps";
  static constexpr auto columns = std::tuple{
      column("hop", &Row::hop, "0, 1, ... along the way from src to dst"),
      column("role", &Row::role, "what the operations carried"),
      column("issued_by", &Row::issued_by, "side that posted them"),
      column("network", &Row::network, "1 = their devices are network cards"),
      column("from_memory", &Row::from_memory, "memory that they took data from"),
      column("to_memory", &Row::to_memory, "memory that they brought it to"),
      column("from_gpu", &Row::from_gpu, "whose memory", Unit::gpu),
      column("to_gpu", &Row::to_gpu, "whose memory", Unit::gpu),
      column("transport", &Row::transport, "UCT transport", Unit::text),
      column("device", &Row::device, "device of the issuing side", Unit::text),
      column("remote_device", &Row::remote_device, "device of the other side", Unit::text),
      column("op", &Row::op, "UCT operation", Unit::text),
  };
};

template <>
struct Table<TrafficClass> {
  using Row = TrafficClass;
  static constexpr const char* name = "traffic_classes";
  static constexpr auto columns = std::tuple{
      column("of", &Row::of, "messages, or why transfers serve none"),
      column("kind", &Row::kind, "which UCP interface carried them"),
      column("match", &Row::match, "how the send was joined with its receive"),
      column("src_memory", &Row::src_memory, "memory the data left"),
      column("dst_memory", &Row::dst_memory, "memory the data reached"),
      column("size", &Row::size, "bits of the length of each: below 2^size, 0 = empty"),
      column("src_gpu", &Row::src_gpu, "whose memory the data left", Unit::gpu),
      column("dst_gpu", &Row::dst_gpu, "whose memory the data reached", Unit::gpu),
      column("mpi", &Row::mpi, "MPI function that asked", Unit::text),
      column("comm", &Row::comm, "communicator: the program's name, else its own", Unit::text),
      column("protocol", &Row::protocol, "UCP protocol", Unit::text),
      column("reason", &Row::reason, "why the transfers serve no message", Unit::text),
      column("first_step", &Row::first_step, "its first row of class_steps", Unit::class_step),
      column("steps", &Row::steps, "number of its rows of class_steps"),
  };
};

template <>
struct Table<ClassStep> {
  static constexpr const char* name = "class_steps";
  static constexpr auto columns =
      std::tuple{column("step", &ClassStep::step, "of the path", Unit::path_step)};
};

template <>
struct Table<TrafficCell> {
  using Row = TrafficCell;
  static constexpr const char* name = "cells";
  static constexpr auto columns = std::tuple{
      column("src_process", &Row::src_process, "where the data lay", Unit::process),
      column("dst_process", &Row::dst_process, "where the data went", Unit::process),
      column("traffic_class", &Row::traffic_class, "class of the traffic", Unit::traffic_class),
      column("messages", &Row::messages, "how many"),
      column("bytes", &Row::bytes, "their payload", Unit::bytes),
      column("timed", &Row::timed, "of these, with known start and end"),
      column("ns", &Row::ns, "from start to end, all of these", Unit::ns),
      column("first_total", &Row::first_total, "its first row of cell_totals", Unit::cell_total),
      column("totals", &Row::totals, "number of its rows of cell_totals"),
  };
};

template <>
struct Table<CellTotal> {
  using Row = CellTotal;
  static constexpr const char* name = "cell_totals";
  static constexpr auto columns = std::tuple{
      column("count", &Row::count, "operations of the step"),
      column("payload_bytes", &Row::payload_bytes, "of the messages", Unit::bytes),
      difference("wire_bytes_minus_payload_bytes", &Row::wire_bytes, &Row::payload_bytes,
                 "payload and headers handed to UCT", Unit::bytes),
  };
};

template <>
struct Table<CallGroup> {
  static constexpr const char* name = "call_groups";
  static constexpr auto columns = std::tuple{
      column("function", &CallGroup::function, "MPI function", Unit::text),
      column("comm", &CallGroup::comm, "communicator of the calls, as in mpi_calls", Unit::text),
  };
};

template <>
struct Table<CellSlab> {
  using Row = CellSlab;
  static constexpr const char* name = "cell_slabs";
  static constexpr auto columns = std::tuple{
      column("slab", &Row::slab, "of time, slab_ns each"),
      column("cell", &Row::cell, "whose messages", Unit::cell),
      column("messages", &Row::messages, "that belong to the slab"),
      column("bytes", &Row::bytes, "their payload", Unit::bytes),
      column("timed", &Row::timed, "of these, with known start and end"),
      column("ns", &Row::ns, "from start to end, all of these", Unit::ns),
  };
};

template <>
struct Table<TotalSlab> {
  using Row = TotalSlab;
  static constexpr const char* name = "total_slabs";
  static constexpr auto columns = std::tuple{
      column("slab", &Row::slab, "of time, slab_ns each"),
      column("total", &Row::total, "of which step of which cell", Unit::cell_total),
      column("count", &Row::count, "operations for messages of the slab, or in it without one"),
      column("payload_bytes", &Row::payload_bytes, "of the messages", Unit::bytes),
      difference("wire_bytes_minus_payload_bytes", &Row::wire_bytes, &Row::payload_bytes,
                 "payload and headers handed to UCT", Unit::bytes),
  };
};

template <>
struct Table<SlabActivity> {
  using Row = SlabActivity;
  static constexpr const char* name = "slab_activity";
  static constexpr auto columns = std::tuple{
      column("layer", &Row::layer, "whose operations"),
      column("process", &Row::process, "that called, or posted, them", Unit::process),
      column("call_group", &Row::call_group, "of MPI calls: which", Unit::call_group),
      column("cell", &Row::cell, "of UCP operations: what counts their messages", Unit::cell),
      column("total", &Row::total, "of transfers: what counts them", Unit::cell_total),
      column("slab", &Row::slab, "the first one"),
      column("length", &Row::length, "number of slabs that are alike"),
      column("busy_ns", &Row::busy_ns, "time in progress in each, all operations together",
             Unit::ns),
      column("starts", &Row::starts, "how many began in each"),
  };
};

template <>
struct Table<RowBlock> {
  using Row = RowBlock;
  static constexpr const char* name = "row_blocks";
  static constexpr auto columns = std::tuple{
      column("of", &Row::of, "table of the rows"),
      column("first_row", &Row::first_row, "the first of them"),
      column("rows", &Row::rows, "how many"),
      column("first_start_ns", &Row::first_start_ns, "the first start of all of them", Unit::ns),
  };
};

}  // namespace uctrace::store
