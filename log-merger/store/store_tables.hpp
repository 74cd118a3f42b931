// The tables of the store, declared once for both directions and for their attributes. A column is
// a dataset; its type here includes the target of references, so loading can check them.
#pragma once

#include <string>
#include <tuple>
#include <type_traits>

#include "log-merger/model/model.hpp"
#include "log-merger/store/store_columns.hpp"
#include "log-merger/store/store_connection_tables.hpp"
#include "log-merger/store/store_gpu_tables.hpp"
#include "log-merger/store/store_library_call_tables.hpp"
#include "log-merger/store/store_memory_call_tables.hpp"
#include "log-merger/store/store_partition_tables.hpp"
#include "log-merger/store/store_setting_tables.hpp"
#include "log-merger/store/store_stack_tables.hpp"
#include "log-merger/store/store_sum_tables.hpp"
#include "log-merger/store/store_traffic_tables.hpp"
#include "log-merger/store/store_wait_tables.hpp"

namespace uctrace::store {

// The single values of a run, as a table of one row.
template <>
struct Table<Run> {
  static constexpr const char* name = "run";
  static constexpr auto columns = std::tuple{
      column("run_id", &Run::run_id, "identity of the job"),
      column("command", &Run::command, "what was recorded"),
      column("epoch_realtime_ns", &Run::epoch_realtime_ns,
             "origin of the job clock, nanoseconds since 1970 UTC"),
      column("last_ns", &Run::last_ns, "the last instant of all rows", Unit::ns),
      column("store_id", &Run::store_id, "of this store, and of the profile made with it"),
      column("settled", &Run::settled, "1 = nothing will be added to its sources"),
      column("calls_are_summed", &Run::calls_are_summed, "1 = the sums of calls are there"),
      column("messages_are_summed", &Run::messages_are_summed,
             "1 = the sums of messages, and of what is beside them, are there"),
      column("slab_ns", &Run::slab_ns, "length of a slab of time"),
      column("slabs", &Run::slabs, "how many the run has, 0 = the tables of cells are not there"),
      column("info_json", &Run::info_json, "the rest of `uctrace info --format json`"),
  };
};

template <>
struct Table<Source> {
  static constexpr const char* name = "sources";
  static constexpr auto columns = std::tuple{
      column("name", &Source::name, "of the file in the data folder"),
      column("inode", &Source::inode, "its inode"),
      column("bytes", &Source::bytes, "its size", Unit::bytes),
      column("changed_ns", &Source::changed_ns, "its ctime, nanoseconds since 1970 UTC"),
      column("state", &Source::state, "what was known of it when it was read"),
  };
};

template <>
struct Table<Process> {
  static constexpr const char* name = "processes";
  static constexpr auto columns = std::tuple{
      column("key", &Process::key, "host:boot:pid namespace:pid:start time", Unit::text),
      column("host", &Process::host, "host name", Unit::text),
      column("pid", &Process::pid, "process id on its host"),
      column("rank", &Process::rank, "-1 = not an MPI process", Unit::rank),
      column("world_size", &Process::world_size, "ranks in MPI_COMM_WORLD"),
      column("world", &Process::world, "which MPI_COMM_WORLD: 0, spawned ones later; -1 = none"),
      column("complete", &Process::complete, "1 = ended in an orderly way, nothing dropped"),
      column("exit", &Process::exit, "finalized, exited, aborted, killed, running or unseen",
             Unit::text),
      column("events", &Process::events, "events read from its log"),
      column("log_bytes", &Process::log_bytes, "size of its log", Unit::bytes),
      column("ucp_libraries", &Process::ucp_libraries, "how many libucp it called"),
  };
};

template <>
struct Table<Message> {
  static constexpr const char* name = "messages";
  static constexpr auto columns = std::tuple{
      column("kind", &Message::kind, "which UCP interface carried it"),
      column("match", &Message::match, "how the send was joined with its receive"),
      column("initiator", &Message::initiator, "the side that asked for the movement"),
      column("protocol_from", &Message::protocol_from, "where `protocol` comes from"),
      column("src_memory", &Message::src_memory, "memory the data left"),
      column("dst_memory", &Message::dst_memory, "memory the data reached"),
      column("src_gpu", &Message::src_gpu, "whose memory the data left", Unit::gpu),
      column("dst_gpu", &Message::dst_gpu, "whose memory the data reached", Unit::gpu),
      column("has_tag", &Message::has_tag, "1 = `tag` is known"),
      column("tag", &Message::tag, "MPI tag where has_tag is 1"),
      column("src", &Message::src, "where the data lay, -1 = unknown", Unit::rank),
      column("dst", &Message::dst, "where the data went, -1 = unknown", Unit::rank),
      column("src_process", &Message::src_process, "where the data lay", Unit::process),
      column("dst_process", &Message::dst_process, "where the data went", Unit::process),
      column("bytes", &Message::bytes, "payload", Unit::bytes),
      column("ucp_tag", &Message::ucp_tag, "the sender's tag in UCP"),
      column("status", &Message::status, "name of the UCS status", Unit::text),
      column("comm", &Message::comm, "communicator: the program's name, else its own", Unit::text),
      column("communicator", &Message::communicator, "communicator", Unit::communicator),
      column("call", &Message::call, "MPI call that asked", Unit::mpi_call),
      column("mpi", &Message::mpi, "MPI function that asked", Unit::text),
      column("asked_library", &Message::asked_library,
             "library above UCX that asked, other than MPI", Unit::text),
      column("asked_function", &Message::asked_function, "its function", Unit::text),
      column("asked_collective", &Message::asked_collective,
             "of UCC: the collective operation that it is for", Unit::text),
      column("asked_algorithm", &Message::asked_algorithm, "its algorithm", Unit::text),
      column("asked_layers", &Message::asked_layers, "UCC's layers that made it", Unit::text),
      column("asked_inferred", &Message::asked_inferred,
             "1: it was posted outside of that call, and is inferred to be for it"),
      column("mpi_recv", &Message::mpi_recv, "MPI function that posted the receive", Unit::text),
      column("progressed_in", &Message::progressed_in, "MPI function that started it", Unit::text),
      column("protocol", &Message::protocol, "UCP protocol", Unit::text),
      column("stack", &Message::stack, "of the call that asked", Unit::stack),
      column("recv_stack", &Message::recv_stack, "of the call that posted the receive",
             Unit::stack),
      column("t_start_ns", &Message::t_start_ns, "the send was posted", Unit::ns),
      column("t_end_ns", &Message::t_end_ns, "complete at the receiver", Unit::ns),
      difference("t_posted_recv_ns_minus_t_end_ns", &Message::t_posted_recv_ns, &Message::t_end_ns,
                 "the receive was posted", Unit::ns),
      column("t_error_ns", &Message::t_error_ns,
             "how far a time of one side may be off against the other side's", Unit::ns),
      column("wait_ns", &Message::wait_ns, "that calls waited for its sender or receiver",
             Unit::ns),
      column("registration_ns", &Message::registration_ns,
             "that both sides spent to make memory known for it", Unit::ns),
      column("connection_ns", &Message::connection_ns, "that it waited for a connection", Unit::ns),
      column("first", &Message::first, "1 = the first from its source to its destination process"),
      column("t_start_from", &Message::t_start_from, "whose instant t_start_ns is"),
      column("t_posted_recv_from", &Message::t_posted_recv_from,
             "whose instant t_posted_recv_ns is"),
      column("t_end_from", &Message::t_end_from, "whose instant t_end_ns is"),
      column("first_hop", &Message::first_hop, "its first row of hops", Unit::hop),
      column("hops", &Message::hops, "number of its rows of hops"),
      column("src_library", &Message::src_library, "libucp of the side that the data left",
             Unit::text),
      column("dst_library", &Message::dst_library, "libucp of the side that the data reached",
             Unit::text),
  };
};

template <>
struct Table<Hop> {
  static constexpr const char* name = "hops";
  static constexpr auto columns = std::tuple{
      column("message", &Hop::message, "the message it is part of", Unit::message),
      column("hop", &Hop::hop, "0, 1, ... along the way from src to dst"),
      column("issued_by", &Hop::issued_by, "side that posted the operations"),
      column("role", &Hop::role, "what they carried"),
      column("exact", &Hop::exact, "1 = joined by ids, 0 = inferred"),
      column("transport", &Hop::transport, "UCT transport", Unit::text),
      column("device", &Hop::device, "device of the issuing side", Unit::text),
      column("remote_device", &Hop::remote_device, "device of the other side", Unit::text),
      column("network", &Hop::network, "1 = they are network cards"),
      column("op", &Hop::op, "UCT operation", Unit::text),
      column("from_memory", &Hop::from_memory, "memory that they took data from"),
      column("to_memory", &Hop::to_memory, "memory that they brought it to"),
      column("from_gpu", &Hop::from_gpu, "whose memory", Unit::gpu),
      column("to_gpu", &Hop::to_gpu, "whose memory", Unit::gpu),
      column("count", &Hop::count, "operations"),
      column("payload_bytes", &Hop::payload_bytes, "of the message", Unit::bytes),
      difference("wire_bytes_minus_payload_bytes", &Hop::wire_bytes, &Hop::payload_bytes,
                 "payload and headers handed to UCT", Unit::bytes),
      column("t_first_ns", &Hop::t_first_ns, "the first operation was posted", Unit::ns),
      difference("t_last_ns_minus_t_first_ns", &Hop::t_last_ns, &Hop::t_first_ns,
                 "the last operation was complete", Unit::ns),
      column("t_last_from", &Hop::t_last_from, "whose instant t_last_ns is"),
  };
};

template <>
struct Table<Transfer> {
  static constexpr const char* name = "transfers";
  static constexpr auto columns = std::tuple{
      column("process", &Transfer::process, "process that posted it", Unit::process),
      column("peer_process", &Transfer::peer_process, "process at the other end", Unit::process),
      column("message", &Transfer::message, "message it served", Unit::message),
      column("transport", &Transfer::transport, "UCT transport", Unit::text),
      column("device", &Transfer::device, "UCT device", Unit::text),
      column("network", &Transfer::network, "1 = it is a network card"),
      column("memory_domain", &Transfer::memory_domain, "UCT memory domain", Unit::text),
      column("op", &Transfer::op, "UCT operation", Unit::text),
      column("reason", &Transfer::reason, "why it served no UCP operation", Unit::text),
      column("link", &Transfer::link, "how it was tied to a UCP operation"),
      column("role", &Transfer::role, "what it carried"),
      column("am_id", &Transfer::am_id, "active message id, 0 = none"),
      column("status", &Transfer::status, "ucs_status_t of the post"),
      column("payload_bytes", &Transfer::payload_bytes, "of the message among wire_bytes",
             Unit::bytes),
      difference("wire_bytes_minus_payload_bytes", &Transfer::wire_bytes, &Transfer::payload_bytes,
                 "as handed to UCT", Unit::bytes),
      column("from_memory", &Transfer::from_memory, "memory that it took data from"),
      column("to_memory", &Transfer::to_memory, "memory that it brought it to"),
      column("from_gpu", &Transfer::from_gpu, "whose memory", Unit::gpu),
      column("to_gpu", &Transfer::to_gpu, "whose memory", Unit::gpu),
      column("local_address", &Transfer::local_address, "0 = none", Unit::address),
      column("remote_address", &Transfer::remote_address, "0 = none", Unit::address),
      column("t_start_ns", &Transfer::t_start_ns, "start of the posting call", Unit::ns),
      difference("t_end_ns_minus_t_start_ns", &Transfer::t_end_ns, &Transfer::t_start_ns,
                 "end of the posting call", Unit::ns),
      column("t_end_from", &Transfer::t_end_from, "whose instant t_end_ns is"),
      difference("t_complete_ns_minus_t_start_ns", &Transfer::t_complete_ns, &Transfer::t_start_ns,
                 "completion", Unit::ns),
      column("t_connected_ns", &Transfer::t_connected_ns, "its endpoint was connected", Unit::ns),
      column("progressed_in", &Transfer::progressed_in, "MPI function it happened in", Unit::text),
      column("stack", &Transfer::stack, "where it was posted", Unit::stack),
  };
};

template <>
struct Table<UcpOperationRow> {
  using Row = UcpOperationRow;
  static constexpr const char* name = "ucp_operations";
  static constexpr auto columns = std::tuple{
      column("process", &Row::process, "process that called", Unit::process),
      column("peer_process", &Row::peer_process, "process at the other end", Unit::process),
      column("message", &Row::message, "message it is one side of", Unit::message),
      column("endpoint", &Row::endpoint, "UCP endpoint, 0 = it belongs to a worker", Unit::address),
      column("worker_uid", &Row::worker_uid, "UCP worker: the endpoint's remote one, else its own",
             Unit::bits),
      column("function", &Row::function, "UCP function", Unit::text),
      column("protocol", &Row::protocol, "UCP protocol", Unit::text),
      column("asked_by", &Row::asked_by, "MPI function that wanted the data", Unit::text),
      column("progressed_in", &Row::progressed_in, "MPI function it happened in", Unit::text),
      column("library_call", &Row::library_call,
             "call of a library above UCX in which or for which it was posted", Unit::library_call),
      column("library_inferred", &Row::library_inferred,
             "1: it was posted outside of that call, and is inferred to be for it"),
      column("status", &Row::status, "name of the UCS status at its end", Unit::text),
      column("bytes", &Row::bytes, "length of the buffer", Unit::bytes),
      column("tag", &Row::tag, "UCP tag, or id of the active message handler"),
      column("tag_mask", &Row::tag_mask, "UCP tag mask of a receive", Unit::bits),
      column("buffer", &Row::buffer, "address of the buffer", Unit::address),
      column("memory", &Row::memory, "memory that the buffer lies in"),
      column("gpu", &Row::gpu, "whose memory", Unit::gpu),
      column("device_memory", &Row::device_memory, "the allocation", Unit::device_memory),
      column("believed", &Row::believed, "what UCX took the buffer for", Unit::text),
      column("remote_address", &Row::remote_address, "of put, get, atomic; else 0", Unit::address),
      column("reply_buffer", &Row::reply_buffer, "of an atomic that fetches; else 0",
             Unit::address),
      column("header_bytes", &Row::header_bytes, "of an active message: its header", Unit::bytes),
      column("received_bytes", &Row::received_bytes, "length that arrived", Unit::bytes),
      column("sender_tag", &Row::sender_tag, "UCP tag that arrived"),
      column("stack", &Row::stack, "where it was called", Unit::stack),
      column("t_start_ns", &Row::t_start_ns, "start of the call", Unit::ns),
      difference("t_end_ns_minus_t_start_ns", &Row::t_end_ns, &Row::t_start_ns,
                 "completion; of an implicit operation the end of its last transfer", Unit::ns),
      column("t_start_from", &Row::t_start_from, "whose instant t_start_ns is"),
      column("t_end_from", &Row::t_end_from, "whose instant t_end_ns is"),
  };
};

template <>
struct Table<MpiCallRow> {
  using Row = MpiCallRow;
  static constexpr const char* name = "mpi_calls";
  static constexpr auto columns = std::tuple{
      column("process", &Row::process, "process that called", Unit::process),
      column("lane", &Row::lane, "recording thread of that process"),
      column("function", &Row::function, "MPI function", Unit::text),
      column("comm", &Row::comm, "communicator; on a window or a file: that it was made from",
             Unit::text),
      column("communicator", &Row::communicator, "the same", Unit::communicator),
      column("peer", &Row::peer, "or target; -1 = any, -2 = null, -2^31 = the call has none",
             Unit::rank),
      column("tag", &Row::tag, "MPI tag; -1 = any, -2^31 = the call has none"),
      column("bytes", &Row::bytes,
             "what it hands over: count * size of the datatype; a start what it starts",
             Unit::bytes),
      column("datatype", &Row::datatype, "of these; -1 = several, or no data", Unit::datatype),
      column("recv_peer", &Row::recv_peer, "as peer, of the half that is received or fetched",
             Unit::rank),
      column("recv_tag", &Row::recv_tag, "as tag, of the half that is received"),
      column("recv_bytes", &Row::recv_bytes, "as bytes, of what it receives or fetches",
             Unit::bytes),
      column("recv_datatype", &Row::recv_datatype, "as datatype, of the same", Unit::datatype),
      column("status", &Row::status, "MPI return code; -1 = it had not returned"),
      column("stack", &Row::stack, "where it was called", Unit::stack),
      column("t_start_ns", &Row::t_start_ns, "start of the call", Unit::ns),
      difference("t_end_ns_minus_t_start_ns", &Row::t_end_ns, &Row::t_start_ns, "end of the call",
                 Unit::ns),
  };
};

template <>
struct Table<Datatype> {
  using Row = Datatype;
  static constexpr const char* name = "datatypes";
  static constexpr auto columns = std::tuple{
      column("name", &Row::name, "by the program, or of MPI's own", Unit::text),
      column("combiner", &Row::combiner, "how it was made: named (MPI's own), vector, ...; unknown",
             Unit::text),
      column("size", &Row::size, "data of an element", Unit::bytes),
      column("extent", &Row::extent, "from one element to the next", Unit::bytes),
      column("contiguous", &Row::contiguous, "1 = no gaps, also between elements"),
  };
};

template <>
struct Table<WaitShare> {
  static constexpr const char* name = "wait_shares";
  static constexpr auto columns = std::tuple{
      column("call", &WaitShare::call, "the call that waited", Unit::mpi_call),
      column("communicator", &WaitShare::communicator, "of the requests", Unit::communicator),
      column("requests", &WaitShare::requests, "that it waited for there"),
      column("ns", &WaitShare::ns, "time of the call that went to them", Unit::ns),
  };
};

template <>
struct Table<Communicator> {
  using Row = Communicator;
  static constexpr const char* name = "communicators";
  static constexpr auto columns = std::tuple{
      column("name", &Row::name, "kind letter, world rank of its rank 0, that one's count",
             Unit::text),
      column("user_name", &Row::user_name, "by the program or MPI", Unit::text),
      column("function", &Row::function, "MPI function that made it", Unit::text),
      column("parent", &Row::parent, "that it was made from", Unit::communicator),
      column("world", &Row::world, "whose ranks its members are, -1 = not known"),
      column("remote_world", &Row::remote_world, "of the other side of an intercommunicator"),
      column("leader", &Row::leader, "world rank of its rank 0, -1 = not known", Unit::rank),
      column("remote_leader", &Row::remote_leader, "of the other side", Unit::rank),
      column("size", &Row::size, "processes"),
      column("remote_size", &Row::remote_size, "of the other side; 0 = no intercommunicator"),
      column("first_member", &Row::first_member, "its first row of communicator_members",
             Unit::member),
      column("members", &Row::members, "number of its rows of communicator_members"),
      column("complete", &Row::complete, "1 = all members are known"),
      column("created_ns", &Row::created_ns, "the first process had it", Unit::ns),
      column("freed_ns", &Row::freed_ns, "the last process freed it, -1 = none did", Unit::ns),
  };
};

template <>
struct Table<MemberRun> {
  static constexpr const char* name = "communicator_members";
  static constexpr auto columns = std::tuple{
      column("remote", &MemberRun::remote, "1 = of the other side of an intercommunicator"),
      column("first", &MemberRun::first, "world rank of the first", Unit::rank),
      column("stride", &MemberRun::stride, "from one to the next"),
      column("count", &MemberRun::count, "how many"),
  };
};

template <>
struct Table<Identity> {
  static constexpr const char* name = "identities";
  static constexpr auto columns = std::tuple{
      column("name", &Identity::name, "short name"),
      column("scope", &Identity::scope, "over what it was counted"),
      column("statement", &Identity::statement, "left = right, in words"),
      column("left", &Identity::left, "left side"),
      column("right", &Identity::right, "right side"),
      column("result", &Identity::result, "whether it holds"),
  };
};

// Every table of rows, in the order in which they are written.
inline constexpr std::tuple kTables{&Run::sources,
                                    &Run::processes,
                                    &Run::messages,
                                    &Run::hops,
                                    &Run::transfers,
                                    &Run::ucp_operations,
                                    &Run::mpi_calls,
                                    &Run::connections,
                                    &Run::memory_calls,
                                    &Run::registration_uses,
                                    &Run::registration_sums,
                                    &Run::kernel_accesses,
                                    &Run::library_calls,
                                    &Run::datatypes,
                                    &Run::wait_shares,
                                    &Run::waits,
                                    &Run::call_dependencies,
                                    &Run::begun_collectives,
                                    &Run::delays,
                                    &Run::critical_path,
                                    &Run::rank_times,
                                    &Run::partition_requests,
                                    &Run::partition_operations,
                                    &Run::partition_events,
                                    &Run::partition_lines,
                                    &Run::partition_polls,
                                    &Run::communicators,
                                    &Run::communicator_members,
                                    &Run::gpus,
                                    &Run::device_memory,
                                    &Run::nics,
                                    &Run::gpu_nic,
                                    &Run::frames,
                                    &Run::stacks,
                                    &Run::stack_frames,
                                    &Run::call_sites,
                                    &Run::facets,
                                    &Run::message_sums,
                                    &Run::hop_sums,
                                    &Run::call_sums,
                                    &Run::operation_sums,
                                    &Run::transfer_sums,
                                    &Run::path_steps,
                                    &Run::traffic_classes,
                                    &Run::class_steps,
                                    &Run::cells,
                                    &Run::cell_totals,
                                    &Run::call_groups,
                                    &Run::cell_slabs,
                                    &Run::total_slabs,
                                    &Run::slab_activity,
                                    &Run::row_blocks,
                                    &Run::latency_sums,
                                    &Run::estimates,
                                    &Run::settings,
                                    &Run::identities};

// Whether a table grows with the events of the run (slowly, if it holds sums). The others can be
// read without it, though some refer to its rows.
template <typename Row>
inline constexpr bool kGrows =
    kIsOneOf<Row, Message, Hop, Transfer, UcpOperationRow, MpiCallRow, ConnectionRow, MemoryCallRow,
             LibraryCallRow, WaitShare, Wait, CallDependency, BegunCollective, PartitionOperation,
             PartitionEvent, PartitionLine, MessageSum, HopSum, CallSum, OperationSum, TransferSum,
             PathStep, TrafficClass, ClassStep, TrafficCell, CellTotal, CallGroup, CellSlab,
             TotalSlab, SlabActivity, RowBlock>;

// The member of Run for a growing table.
template <typename Row>
inline constexpr std::vector<Row> Run::*kRows = std::get<std::vector<Row> Run::*>(kTables);

}  // namespace uctrace::store
