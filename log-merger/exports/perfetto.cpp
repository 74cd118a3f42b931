// A track for each process, below it those of its MPI calls, UCP operations and UCT operations;
// flows from the sending operation of a message to the receiving one; bytes per second.
#include <fmt/format.h>

#include <cmath>
#include <compare>
#include <map>
#include <string>
#include <vector>

#include "log-merger/exports/formats.hpp"
#include "log-merger/exports/lanes.hpp"
#include "log-merger/exports/output.hpp"
#include "log-merger/exports/perfetto_packets.hpp"
#include "log-merger/exports/remarks.hpp"
#include "log-merger/exports/rows_of_processes.hpp"
#include "log-merger/folder/new_file.hpp"
#include "log-merger/folder/new_folder.hpp"
#include "log-merger/summaries/time_window.hpp"

namespace uctrace::exports {
namespace {

constexpr std::uint32_t kSlabs = 1024;  // of the rates, over the run

// What is known about a message before operations are written: whether a flow leads from its send
// to its receive, and which of its ends had an operation.
enum MessageMark : std::uint8_t { kFlows = 1, kSent = 2, kReceived = 4 };

bool is_certain(Match match) { return match == Match::exact || match == Match::inferred; }

bool is_receive(std::string_view ucp_function) {
  return ucp_function.find("_recv") != std::string_view::npos;
}

// The tracks of one process, made as they are needed.
class ProcessTracks {
 public:
  ProcessTracks(PerfettoPackets& packets, Track process) : packets_(packets), process_(process) {}

  Track process() const { return process_; }
  // A track of this name that is free for the duration. Perfetto draws tracks of the same name as
  // one.
  Track take(const std::string& name, std::int64_t start_ns, std::int64_t end_ns) {
    Group& group = groups_[name];
    const std::size_t lane = group.lanes.take(start_ns, end_ns);
    if (lane == group.tracks.size()) group.tracks.push_back(packets_.add_track(process_, name));
    return group.tracks[lane];
  }

 private:
  struct Group {
    Lanes lanes;
    std::vector<Track> tracks;
  };

  PerfettoPackets& packets_;
  Track process_;
  std::map<std::string, Group> groups_;
};

// Bytes of one process in each slab of time.
struct Traffic {
  std::vector<std::uint64_t> sent, received;

  static void add(std::vector<std::uint64_t>& slabs, std::int64_t slab, std::uint64_t bytes) {
    if (slabs.empty()) slabs.resize(kSlabs);
    slabs[static_cast<std::size_t>(slab)] += bytes;
  }
};

class PerfettoExport {
 public:
  PerfettoExport(const RowSource& source, Output& out, Remarks& remarks)
      : source_(source),
        run_(source.run()),
        packets_(out, run_.epoch_realtime_ns),
        remarks_(remarks),
        slab_ns_(std::max<std::int64_t>(run_.last_ns, 0) / kSlabs + 1),
        traffic_(run_.processes.size()) {}

  void write() {
    add_processes();
    look_at_messages();
    write_calls();
    for (const RowsOfProcess rows : rows_of_processes<UcpOperationRow>(source_)) {
      for_each_by_start<UcpOperationRow>(
          source_, rows, [&](const UcpOperationRow& row, std::size_t) { write_operation(row); });
    }
    for (const RowsOfProcess rows : rows_of_processes<Transfer>(source_)) {
      for_each_by_start<Transfer>(
          source_, rows, [&](const Transfer& transfer, std::size_t) { write_transfer(transfer); });
    }
    for_each_row(source_, Wanted<PartitionEvent>::all(),
                 [&](const PartitionEvent& event, std::size_t) { write_event(event); });
    write_lone_ends();
    write_rates();
    remark_on_times();
    write_remarks();
  }

 private:
  const std::string& text(TextId id) const { return run_.texts[id]; }
  std::int32_t rank_of(std::int32_t process) const {
    return process < 0 ? -1 : run_.processes[static_cast<std::size_t>(process)].rank;
  }
  std::int64_t slab_of(std::int64_t time_ns) const {
    return std::min<std::int64_t>(time_ns / slab_ns_, kSlabs - 1);
  }
  ProcessTracks& tracks_of(std::size_t process) { return tracks_[process]; }

  void add_processes() {
    std::uint32_t number = 0;
    for (const Process& process : run_.processes) {
      const Track track = packets_.add_process(++number, name_of_process(run_, process));
      tracks_.emplace_back(packets_, track);
    }
  }

  // Remarks on incomplete data go where everybody looks: at the beginning of the trace. Packets
  // need not be in the order of time.
  void write_remarks() {
    if (remarks_.empty()) return;
    const Track track = packets_.add_track(Track{}, "notes on this run");
    for (const std::string& remark : remarks_)
      packets_.name(remark).category("note").instant(track, 0);
  }

  void look_at_messages() {
    marks_.reserve(source_.count<Message>());
    for_each_row(source_,
                 Wanted<Message>{&Message::match, &Message::src_process, &Message::dst_process,
                                 &Message::bytes, &Message::t_start_ns, &Message::t_end_ns},
                 [&](const Message& message, std::size_t) {
                   const bool flows = is_certain(message.match) && message.src_process >= 0 &&
                                      message.dst_process >= 0 && message.t_start_ns >= 0 &&
                                      message.t_end_ns >= 0;
                   marks_.push_back(flows ? kFlows : 0);
                   add_traffic(message);
                 });
  }

  void add_traffic(const Message& message) {
    const auto add = [&](std::int32_t process, std::vector<std::uint64_t> Traffic::*slabs,
                         std::int64_t time_ns) {
      if (process < 0) return;
      if (time_ns < 0) {
        bytes_without_time_ += message.bytes;
        return;
      }
      Traffic::add(traffic_[static_cast<std::size_t>(process)].*slabs, slab_of(time_ns),
                   message.bytes);
    };
    add(message.src_process, &Traffic::sent, message.t_start_ns);
    add(message.dst_process, &Traffic::received, message.t_end_ns);
  }

  // Each call gets all of its waits, which are in the order of calls, too.
  void write_calls() {
    RowWindow<Wait> waits(source_, Wanted<Wait>::all());
    const std::size_t end = source_.count<Wait>();
    std::size_t wait = 0;
    for_each_row(source_, Wanted<MpiCallRow>::all(),
                 [&](const MpiCallRow& call, std::size_t number) {
                   waits_.clear();
                   for (; wait < end; ++wait) {
                     const Wait& next = waits.row(wait);
                     if (next.call > static_cast<std::int64_t>(number)) break;
                     if (next.call == static_cast<std::int64_t>(number)) waits_.push_back(next);
                   }
                   write_call(call);
                 });
  }

  void write_call(const MpiCallRow& call) {
    if (call.t_start_ns < 0) return void(++without_time_);
    const bool returned = call.t_end_ns >= 0;
    const Track track = tracks_of(call.process)
                            .take(fmt::format("MPI thread {}", call.lane), call.t_start_ns,
                                  returned ? call.t_end_ns : INT64_MAX);
    packets_.name(text(call.function)).category("mpi").with("communicator", text(call.comm));
    add_half("peer", call.peer, "tag", call.tag);
    if (call.bytes != 0) packets_.with_count("bytes", call.bytes);
    add_half("receive peer", call.recv_peer, "receive tag", call.recv_tag);
    if (call.recv_bytes != 0) packets_.with_count("receive bytes", call.recv_bytes);
    packets_.with("call site", text(call_site_of(run_, call.stack)));
    add_waits();
    if (returned) return packets_.slice(track, call.t_start_ns, call.t_end_ns);
    packets_.with("end", "it had not returned").open_slice(track, call.t_start_ns);
  }

  void add_waits() {
    if (waits_.empty()) return;
    packets_.begin_list("waits");
    for (const Wait& wait : waits_) {
      packets_.next_entry()
          .with("kind", name_of(wait.kind))
          .with_count("ns", static_cast<std::uint64_t>(wait.ns));
      if (wait.cause_process >= 0) packets_.with_number("for rank", rank_of(wait.cause_process));
      if (wait.message >= 0) packets_.with_number("message", wait.message);
      if (wait.unknown == WaitUnknown::none) continue;
      packets_.with("unknown", name_of(wait.unknown))
          .with_count("unknown ns", static_cast<std::uint64_t>(wait.unknown_ns));
    }
    packets_.end_list();
  }

  // As in table 1 of the paper (docs/partitions.md): at the begin or the end of a call.
  void write_event(const PartitionEvent& event) {
    if (event.t_ns < 0) return void(++without_time_);
    const Track track = tracks_of(event.process).take("partitioned messages", 0, 0);
    packets_.name(name_of(event.kind)).category("partitions").with_number("request", event.request);
    if (event.operation >= 0) packets_.with_number("use", event.operation);
    if (event.partition >= 0) packets_.with_number("partition", event.partition);
    packets_.with_number("MPI thread", event.lane).instant(track, event.t_ns);
  }

  // The arguments that a call has. -1 = any.
  void add_half(const char* peer_name, std::int32_t peer, const char* tag_name, std::int32_t tag) {
    if (peer != INT32_MIN) packets_.with_number(peer_name, peer);
    if (tag != INT32_MIN) packets_.with_number(tag_name, tag);
  }

  void write_operation(const UcpOperationRow& row) {
    if (row.t_start_ns < 0) return void(++without_time_);
    const Track track =
        tracks_of(row.process).take("UCP", row.t_start_ns, std::max(row.t_end_ns, row.t_start_ns));
    packets_.name(text(row.function)).category("ucp").with_count("bytes", row.bytes);
    if (row.peer_process >= 0) packets_.with_number("peer", rank_of(row.peer_process));
    packets_.with_count("tag", row.tag)
        .with("protocol", text(row.protocol))
        .with("asked by", text(row.asked_by))
        .with("progressed in", text(row.progressed_in))
        .with("status", text(row.status))
        .with("memory", row.memory == MemoryKind::unknown ? "" : name_of(row.memory));
    add_message(row);
    write_ended(track, row.t_start_ns, row.t_end_ns);
  }

  void add_message(const UcpOperationRow& row) {
    if (row.message < 0) return;
    packets_.with_number("message", row.message);
    std::uint8_t& mark = marks_[static_cast<std::size_t>(row.message)];
    const std::uint8_t side = is_receive(text(row.function)) ? kReceived : kSent;
    if ((mark & kFlows) == 0 || (mark & side) != 0) return;
    mark |= side;
    packets_.flow(flow_of(static_cast<std::size_t>(row.message)));
  }
  static std::uint64_t flow_of(std::size_t message) { return message + 1; }

  void write_transfer(const Transfer& transfer) {
    if (transfer.t_start_ns < 0) return void(++without_time_);
    const std::int64_t end_ns = end_of(transfer);
    const Track track =
        tracks_of(transfer.process)
            .take(fmt::format("UCT {} {}", text(transfer.transport), text(transfer.device)),
                  transfer.t_start_ns, std::max(end_ns, transfer.t_start_ns));
    packets_.name(text(transfer.op))
        .category("uct")
        .with_count("payload bytes", transfer.payload_bytes)
        .with_count("wire bytes", transfer.wire_bytes)
        .with("role", name_of(transfer.role))
        .with("serves", name_of(transfer.link))
        .with("reason", text(transfer.reason))
        .with("progressed in", text(transfer.progressed_in));
    if (transfer.peer_process >= 0) packets_.with_number("peer", rank_of(transfer.peer_process));
    if (transfer.message >= 0) packets_.with_number("message", transfer.message);
    if (transfer.t_complete_ns < 0)
      packets_.with("end", "of the posting call; completion not known");
    write_ended(track, transfer.t_start_ns, end_ns);
  }

  void write_ended(Track track, std::int64_t start_ns, std::int64_t end_ns) {
    if (end_ns >= 0) return packets_.slice(track, start_ns, end_ns);
    packets_.with("end", "not known").instant(track, start_ns);
  }

  // A flow needs an event at either end. If there is no operation, as for the receiving end of an
  // active message, the known instant is used.
  void write_lone_ends() {
    for_each_row(source_,
                 Wanted<Message>{&Message::kind, &Message::src_process, &Message::dst_process,
                                 &Message::bytes, &Message::t_start_ns, &Message::t_end_ns},
                 [&](const Message& message, std::size_t number) {
                   const std::uint8_t mark = marks_[number];
                   if ((mark & kFlows) == 0) return;
                   ++flows_;
                   if ((mark & kSent) == 0) write_end(message, number, Side::src);
                   if ((mark & kReceived) == 0) write_end(message, number, Side::dst);
                 });
  }

  void write_end(const Message& message, std::size_t number, Side side) {
    const bool is_source = side == Side::src;
    const std::int64_t time_ns = is_source ? message.t_start_ns : message.t_end_ns;
    ProcessTracks& tracks =
        tracks_of(static_cast<std::size_t>(is_source ? message.src_process : message.dst_process));
    const Track track = tracks.take("messages", 0, 0);
    packets_.name(fmt::format("{} {}", name_of(message.kind), is_source ? "left" : "arrived"))
        .category("ucp")
        .with_count("bytes", message.bytes)
        .with_count("message", number)
        .flow(flow_of(number))
        .instant(track, time_ns);
  }

  void write_rates() {
    for (std::size_t process = 0; process < traffic_.size(); ++process) {
      write_rate(process, "sent", traffic_[process].sent);
      write_rate(process, "received", traffic_[process].received);
    }
  }

  // A value holds until the next one: only what differs is written.
  void write_rate(std::size_t process, const char* name, const std::vector<std::uint64_t>& slabs) {
    if (slabs.empty()) return;
    const Track track = packets_.add_byte_rate(tracks_of(process).process(), name);
    std::uint64_t before = 0;
    for (std::size_t slab = 0; slab <= slabs.size(); ++slab) {
      const std::uint64_t bytes = slab < slabs.size() ? slabs[slab] : 0;
      if (bytes == before && slab != 0) continue;
      packets_.count(track, static_cast<std::int64_t>(slab) * slab_ns_,
                     static_cast<double>(bytes) * 1e9 / static_cast<double>(slab_ns_));
      before = bytes;
    }
  }

  void remark_on_times() {
    if (without_time_ != 0) {
      remarks_.push_back(fmt::format("{} without a known start: not in the export",
                                     counted(without_time_, "operation")));
    }
    if (bytes_without_time_ != 0) {
      remarks_.push_back(fmt::format("{} of messages without a known time: not in the rates",
                                     counted(bytes_without_time_, "byte")));
    }
    const std::size_t messages = source_.count<Message>();
    if (flows_ != messages) {
      remarks_.push_back(
          fmt::format("{} of {} without an arrow: an end, or its time, is not known "
                      "for certain",
                      messages - flows_, counted(messages, "message")));
    }
  }

  const RowSource& source_;
  const Run& run_;
  PerfettoPackets packets_;
  Remarks& remarks_;
  std::vector<ProcessTracks> tracks_;  // by process
  std::vector<std::uint8_t> marks_;    // MessageMark, by message
  std::vector<Wait> waits_;            // of the call that is being written
  const std::int64_t slab_ns_;
  std::vector<Traffic> traffic_;  // by process
  std::uint64_t without_time_ = 0, bytes_without_time_ = 0, flows_ = 0;
};

}  // namespace

void write_perfetto(const RowSource& source, const ExportOptions& options, Remarks& remarks) {
  NewFile file(options.path);
  Output out(file.fd());
  PerfettoExport(source, out, remarks).write();
  out.flush();
  file.publish_new();
}

}  // namespace uctrace::exports
