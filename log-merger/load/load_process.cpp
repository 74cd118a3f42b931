// One process's log into the job's vectors: definitions first, then events, which refer to them.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "event-log/reader/plain_text.hpp"
#include "log-merger/job/job.hpp"
#include "log-merger/load/load_devices.hpp"
#include "log-merger/load/load_mpi.hpp"
#include "log-merger/load/load_peers.hpp"

namespace uctrace::merge {

namespace {

using log::Overloaded;
using log::Stream;

HeaderWords words_of(log::Words header) {
  HeaderWords result;
  result.count = static_cast<std::uint8_t>(std::min(header.size(), result.words.size()));
  std::copy_n(header.begin(), result.count, result.words.begin());
  return result;
}

constexpr auto kUct = static_cast<std::size_t>(log::DropKind::uct);
constexpr auto kUcp = static_cast<std::size_t>(log::DropKind::ucp);
constexpr auto kMpi = static_cast<std::size_t>(log::DropKind::mpi);

// What a completion of a UCP operation tells.
struct UcpEnd {
  std::int32_t status;
  std::uint64_t tick, sender_tag, length;
  bool of_receive, has_arrival_tick;
};

class ProcessLoader {
 public:
  ProcessLoader(Job& job, Index process)
      : job_(job),
        process_(process),
        log_(job.logs[static_cast<std::size_t>(process)]),
        first_ucp_(job.ucp.size()),
        mpi_(job, process),
        peers_(job, log_),
        devices_(job, process) {}

  void load() {
    load_definitions();
    load_events();
    finish_pending();
    sum_counters();
  }

 private:
  std::int64_t time(std::uint64_t tick) const { return log_.clock.job_ns(tick); }

  void load_definitions() {
    log_.file.for_each_record(
        Stream::definitions,
        Overloaded{
            [&](std::uint16_t, const log::TextView& text) { take_text(text); },
            [&](std::uint16_t lane, const log::UctInterfaceView& view) { peers_.take(lane, view); },
            [&](std::uint16_t, const log::UctEndpointView& view) { peers_.take(view); },
            [&](std::uint16_t lane, const log::UcpWorkerView& view) { peers_.take(lane, view); },
            [&](std::uint16_t, const log::UcpEndpointView& view) { peers_.take(view); },
            [&](std::uint16_t, const log::UcpConnectionView& view) { peers_.take(view); },
            [&](std::uint16_t, const log::CommunicatorView& view) { mpi_.take(view); },
            [&](std::uint16_t, const log::WindowView& view) { mpi_.take(view); },
            [&](std::uint16_t, const log::DatatypeView& view) { mpi_.take(view); },
            [&](std::uint16_t, const log::HandleEndView& view) {
              peers_.take(view);
              mpi_.take(view);
            },
            [&](std::uint16_t, const log::StackView& view) {
              log_.stacks.push_back({view.id(),
                                     view.truncated(),
                                     view.r.tick,
                                     {view.addresses.begin(), view.addresses.end()}});
            },
            [&](std::uint16_t, const log::ModuleView& view) { take_module(view); },
            [&](std::uint16_t, const DeviceDefinition auto& view) { devices_.take(view); },
            [&](std::uint16_t, const log::FaultView& view) {
              log_.faults.emplace_back(view.r, plain_text(view.detail));
            },
            [&](std::uint16_t lane, const log::ToolTrafficView& view) {
              log_.tool_traffic.push_back({lane, view.r.tick, view.r.end_tick, view.r.sends});
            },
            [&](std::uint16_t lane, const log::RecordingSwitchView& view) {
              recorded_.take(lane, view);
            }});
    log_.recorded = recorded_.finish(log_.file.lanes());
    peers_.finish_definitions();
    mpi_.finish_definitions();
    devices_.finish();
  }

  void take_module(const log::ModuleView& view) {
    const auto* id = reinterpret_cast<const char*>(view.build_id.data());
    log_.modules.push_back({view.r.tick, view.r.bias, view.r.begin, view.r.end,
                            plain_text(view.path), std::string(id, view.build_id.size())});
  }

  void take_text(const log::TextView& text) {
    const std::string value(text.text);
    switch (text.kind()) {
      case log::TextKind::command_line:
        log_.command_line = value;
        break;
      case log::TextKind::executable:
        log_.executable = plain_text(value);
        break;
      case log::TextKind::environment:
        log_.environment.push_back(value);
        break;
      case log::TextKind::ucx_version:
        log_.ucx_version = plain_text(value);
        break;
      case log::TextKind::ucx_library:
        log_.ucx_library = plain_text(value);
        break;
      case log::TextKind::uct_library:
        log_.uct_libraries.push_back({plain_text(value), text.r.id != 0});
        break;
      case log::TextKind::recording_when:
        (text.r.id != 0 ? log_.start_on : log_.stop_on) = plain_text(value);
        break;
      case log::TextKind::gpu_history:
        (text.r.id != 0 ? log_.devices.wanted_history : log_.devices.history) = plain_text(value);
        break;
      case log::TextKind::ucx_protocol:
        if (text.r.id < log_.protocols.size()) {
          log_.protocols[text.r.id] = job_.run.texts.intern(plain_text(value));
        }
        break;
      default:
        mpi_.take(text);
        break;
    }
  }

  void load_events() {
    std::unordered_map<log::Id, UcpEnd> ucp_ends;
    std::unordered_map<log::Id, std::pair<std::uint64_t, std::int32_t>> uct_ends;
    log_.file.for_each_record(
        Stream::events,
        Overloaded{[&](std::uint16_t lane, const log::UctOperationView& view) { take(lane, view); },
                   [&](std::uint16_t lane, const log::UcpOperationView& view) { take(lane, view); },
                   [&](std::uint16_t lane, const log::MpiCallView& view) {
                     ++log_.events_by_kind[kMpi];
                     mpi_.take(lane, view);
                   },
                   [&](std::uint16_t lane, const log::MpiRequestsView& view) {
                     ++log_.events_by_kind[kMpi];
                     ++job_.mpi_request_records;
                     mpi_.take(lane, view);
                   },
                   [&](std::uint16_t, const log::UctArrivalView& view) { take(view); },
                   [&](std::uint16_t, const log::UctCompletionView& view) {
                     ++log_.events_by_kind[kUct];
                     uct_ends[view.r.operation] = {view.r.tick, view.status()};
                   },
                   [&](std::uint16_t, const log::UctPendingView& view) { take(view); },
                   [&](std::uint16_t, const log::UcpCompletionView& view) {
                     ++log_.events_by_kind[kUcp];
                     ucp_ends[view.r.operation] = {view.status(),     view.r.tick,
                                                   view.r.sender_tag, view.r.length,
                                                   view.of_receive,   view.has_arrival_tick()};
                   }});
    for (const auto& [id, end] : uct_ends) {
      const auto found = log_.uct_by_id.find(id);
      if (found == log_.uct_by_id.end()) {
        log_.uct_ends_of_outside += !log_.recorded.whole();
        continue;
      }
      if (UctOp& op = job_.uct[static_cast<std::size_t>(found->second)]; op.has_end) {
        op.complete_ns = time(end.first);
        op.end_status = end.second;
        ++job_.uct_completions;
      }
    }
    for (const auto& [id, end] : ucp_ends) {
      const auto found = log_.ucp_by_id.find(id);
      if (found == log_.ucp_by_id.end()) {
        take_end_of_outside(id, end);
      } else {
        UcpOp& op = job_.ucp[static_cast<std::size_t>(found->second)];
        op.ended = op.completed = true;
        ++job_.ucp_completions;
        op.end_status = end.status;
        op.end_ns = time(end.tick);
        op.end_from = end.has_arrival_tick ? TimeFrom::arrival : TimeFrom::clock;
        if (op.is_receive()) {
          (op.is_stream() ? op.ended_in : op.sender_tag) = end.sender_tag;
          op.received_bytes = end.length;
        }
      }
    }
    mpi_.finish_calls();
    end_with_calls();
  }

  // Operations that end with the MPI call they begin with. If its record was lost, or it had not
  // returned, their end is not known.
  void end_with_calls() {
    for (std::size_t i = first_ucp_; i < job_.ucp.size(); ++i) {
      UcpOp& op = job_.ucp[i];
      if ((op.flags & log::UcpOperation::kCallEnd) == 0 || op.completed || !op.ended) {
        continue;
      }
      const Index index = call_around(job_, process_, op.lane, op.start_tick);
      const MpiCall* call = index == kNone ? nullptr : &job_.calls[static_cast<std::size_t>(index)];
      const bool known = call != nullptr && call->start_tick == op.start_tick && !call->open;
      op.end_ns = known ? call->end_ns : -1;
      op.end_from = TimeFrom::mpi_call;
    }
  }

  // What began before a window did: of a receive its end tells all the same what it took.
  void take_end_of_outside(log::Id id, const UcpEnd& end) {
    if (log_.recorded.whole()) {
      return;
    }
    ++log_.ucp_ends_of_outside;
    if (end.of_receive && took_message(end.status)) {
      job_.outside_receives.push_back({process_, id, end.sender_tag, time(end.tick)});
    }
  }

  void take(std::uint16_t lane, const log::UctOperationView& view) {
    ++log_.events_by_kind[kUct];
    UctOp op;
    op.process = process_;
    op.lane = lane;
    op.interface = view.interface_id();
    op.op = view.r.op;
    op.origin_kind = view.origin_kind();
    op.route = view.route();
    op.am_id = view.r.am_id;
    op.protocol = view.r.protocol;
    op.status = view.status();
    op.id = view.id;
    op.one_tick = view.one_tick();
    op.has_end = view.has_end();
    op.parent_id = view.parent;
    op.staging = view.parent != 0;
    op.origin = view.r.origin;
    op.start_tick = view.r.start_tick;
    op.endpoint = view.r.endpoint;
    op.bytes = view.r.bytes;
    op.local = view.local.value_or(0);
    op.remote = view.remote.value_or(0);
    op.start_ns = time(view.r.start_tick);
    op.end_ns = time(view.r.start_tick + view.r.duration_ticks);
    op.complete_ns = op.status == 0 && !op.has_end ? op.end_ns : -1;
    op.header = words_of(view.header);
    op.memory = view.memory;
    log_.devices.memory_words += (view.r.marks & log::UctOperation::kMemory) != 0;
    op.stack = view.stack;
    if (op.id != 0) {
      log_.uct_by_id[op.id] = static_cast<Index>(job_.uct.size());
    }
    job_.uct.push_back(op);
  }

  void take(const log::UctArrivalView& view) {
    ++log_.events_by_kind[kUct];
    log_.arrival_by_id[view.r.id] = static_cast<Index>(job_.arrivals.size());
    job_.arrivals.push_back({process_, view.interface_id(), view.r.am_id, view.r.kind,
                             time(view.r.start_tick), words_of(view.header)});
  }

  void take(const log::UctPendingView& view) {
    ++log_.events_by_kind[kUct];
    auto& [balance, since] = in_queue_[{view.r.endpoint, view.r.request}];
    switch (view.event()) {
      case log::PendingEvent::added:
        ++log_.pending.added;
        ++balance;
        since = std::max(since, view.r.tick);
        return;
      case log::PendingEvent::dispatched:
        ++log_.pending.dispatched;
        break;
      case log::PendingEvent::purged:
        ++log_.pending.purged;
        break;
      default:
        ++log_.pending.lost_sight;
    }
    --balance;
  }

  // A queue ends with its endpoint: what is in it then, nobody will be told of.
  void finish_pending() {
    for (const auto& [key, entry] : in_queue_) {
      const auto& [balance, since] = entry;
      if (balance <= 0) {
        log_.pending.outside += static_cast<std::uint64_t>(-balance);
        continue;
      }
      const Index at = row_at(log_.endpoints, key.first, since);
      const bool destroyed =
          at != kNone && log_.endpoints[static_cast<std::size_t>(at)].destroyed_tick != UINT64_MAX;
      (destroyed ? log_.pending.vanished : log_.pending.queued) +=
          static_cast<std::uint64_t>(balance);
    }
  }

  void take(std::uint16_t lane, const log::UcpOperationView& view) {
    ++log_.events_by_kind[kUcp];
    UcpOp op;
    op.process = process_;
    op.lane = lane;
    op.function = view.function();
    op.flags = view.flags();
    op.status = view.status();
    op.id = view.r.id;
    op.start_tick = view.r.start_tick;
    op.handle = view.r.handle;
    op.bytes = view.r.bytes;
    op.buffer = view.r.buffer;
    op.posted_tick = op.start_tick;
    take_details(view.r, op);
    op.start_ns = time(view.r.start_tick);
    op.posted_ns = time(op.posted_tick);
    op.start_from =
        (op.flags & log::UcpOperation::kCallStart) != 0 ? TimeFrom::mpi_call : TimeFrom::clock;
    op.ended = op.status <= 0;
    op.end_status = op.status;
    op.end_ns = op.ended ? time(view.r.start_tick + view.r.duration_ticks) : -1;
    op.memory = view.memory;
    log_.devices.memory_words += (op.flags & log::UcpOperation::kMemory) != 0;
    op.stack = view.stack;
    op.tool = is_tool_traffic(lane, op.start_tick);
    log_.ucp_by_id[op.id] = static_cast<Index>(job_.ucp.size());
    job_.ucp.push_back(op);
  }

  bool is_tool_traffic(std::uint16_t lane, std::uint64_t tick) const {
    return std::any_of(
        log_.tool_traffic.begin(), log_.tool_traffic.end(), [&](const ToolTraffic& traffic) {
          return traffic.lane == lane && traffic.begin_tick <= tick && tick <= traffic.end_tick;
        });
  }

  // What the words of the record mean depends on the family.
  static void take_details(const log::UcpOperation& r, UcpOp& op) {
    if (op.is(log::UcpFamily::tag_send) || op.is(log::UcpFamily::tag_receive)) {
      op.tag = r.tag;
      op.tag_mask = r.tag_mask;
      op.posted_tick = r.posted_tick;
      return;
    }
    op.arrival = r.origin;
    if (op.is_one_sided()) {
      op.remote = r.remote;
      op.reply_buffer = r.reply_buffer;
    } else if (op.is(log::UcpFamily::am_receive_data)) {
      op.data = r.data;
    } else if (op.is_stream()) {
      op.received_bytes = op.is_receive() ? r.received : 0;
    } else {
      op.tag = op.sender_tag = r.am_id;
      op.header_bytes = r.header_bytes;
      op.bytes += r.header_bytes;
      op.received_bytes = op.is_receive() ? op.bytes : 0;
      op.data = r.buffer;
    }
  }

  void sum_counters() {
    for (const log::LaneInfo& lane : log_.file.lanes()) {
      log_.totals += lane.counters;
    }
  }

  Job& job_;
  Index process_;
  ProcessLog& log_;
  const std::size_t first_ucp_;  // of this process in the job
  MpiLoader mpi_;
  PeerLoader peers_;
  DeviceLoader devices_;
  RecordedLoader recorded_;
  // By endpoint and request: how often it was added and did not leave, and when it was last added.
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::pair<std::int64_t, std::uint64_t>>
      in_queue_;
};

}  // namespace

void load_process(Job& job, Index process) { ProcessLoader(job, process).load(); }

}  // namespace uctrace::merge
