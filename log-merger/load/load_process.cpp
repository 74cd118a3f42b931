// Loads the processes' logs into the job's vectors. Definitions come first, one process after the
// other, because they add to shared tables. Events, which refer to them, follow, with processes in
// parallel.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "event-log/reader/plain_text.hpp"
#include "log-merger/job/job.hpp"
#include "log-merger/load/load_devices.hpp"
#include "log-merger/load/load_library_calls.hpp"
#include "log-merger/load/load_memory_calls.hpp"
#include "log-merger/load/load_mpi.hpp"
#include "log-merger/load/load_peers.hpp"
#include "log-merger/load/load_pending.hpp"
#include "log-merger/load/operation_ends.hpp"
#include "log-merger/load/record_checks.hpp"
#include "ucx-facts/releases.hpp"

namespace uctrace::merge {

namespace {

using log::Overloaded;
using log::RecordType;
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

class ProcessLoader {
 public:
  ProcessLoader(Job& job, ProcessIndex process)
      : job_(job),
        process_(process),
        log_(job.logs[process]),
        callers_(log_),
        mpi_(job, process, callers_),
        peers_(job, log_),
        devices_(job, process),
        ends_(job, process),
        checks_(log_) {}

  // How many rows the log has for the job.
  struct Rows {
    std::size_t uct = 0, arrivals = 0, ucp = 0, calls = 0;
  };

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
            [&](std::uint16_t, const log::KernelAccessView& view) {
              log_.memory_calls.kernel_accesses.push_back(view.r);
            },
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
    callers_.finish_definitions();
    peers_.finish_definitions();
    mpi_.finish_definitions();
    devices_.finish();
  }

  Rows rows() const {
    const log::LogFile& file = log_.file;
    return {file.event_count(RecordType::uct_operation), file.event_count(RecordType::uct_arrival),
            file.event_count(RecordType::ucp_operation), mpi_.calls()};
  }

  // Fills the rows from `first` on, except calls: their number is known only at the end of the log.
  void load_events(const Rows& first) {
    first_ = next_ = first;
    log_.uct_rows = {first.uct, first.uct + rows().uct};
    log_.arrival_rows = {first.arrivals, first.arrivals + rows().arrivals};
    log_.ucp_rows = {first.ucp, first.ucp + rows().ucp};
    make_room();
    read_events();
    ends_.finish();
    mpi_.finish_calls();
    log_.memory_calls.calls.shrink_to_fit();
    log_.library_calls.calls.shrink_to_fit();
    pending_.finish(log_);
    log_.record_faults = checks_.faults();
    log_.record_faults.useless_ends = ends_.useless();
    sum_counters();
  }

  void place_calls(std::size_t first) {
    mpi_.place_calls(first);
    ends_.end_with_calls();
  }

  // Adds the job's counts, in the order of the processes.
  void add_totals() {
    job_.mpi_request_records += mpi_request_records_;
    ends_.add_totals();
  }

 private:
  std::int64_t time(std::uint64_t tick) const { return log_.clock.job_ns(tick); }

  // `ticks`: its least duration; UINT64_MAX: not known.
  void check_time(std::uint16_t lane, std::uint64_t start, std::uint64_t ticks = 0) {
    const std::uint64_t last = start + ticks;
    checks_.time(lane, start, last < start ? UINT64_MAX : last);
  }

  void take_module(const log::ModuleView& view) {
    const auto* id = reinterpret_cast<const char*>(view.build_id.data());
    log_.modules.push_back({view.r.tick, view.r.bias, view.r.begin, view.r.end,
                            plain_text(view.path), std::string(id, view.build_id.size())});
  }

  UcpLibrary& ucp_library(const log::TextView& text) {
    return log_.ucp_libraries[static_cast<std::uint16_t>(text.r.id)];
  }

  static void take_ucx_version(UcpLibrary& library, const std::string& version) {
    library.version = version;
    const auto [major, minor] = library.number();
    const ucx::Release* const release = ucx::find_release(major, minor);
    library.names_places = release == nullptr || release->names_places;
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
      case log::TextKind::setting:
        log_.settings.push_back({text.r.id, value});
        break;
      case log::TextKind::ucx_version:
        take_ucx_version(ucp_library(text), plain_text(value));
        break;
      case log::TextKind::ucx_library:
        ucp_library(text).path = job_.run.texts.intern(plain_text(value));
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
      case log::TextKind::library:
      case log::TextKind::library_function:
        name_library(log_.library_calls, text, job_.run.texts);
        break;
      case log::TextKind::memory_domain:
        name_memory_domain(log_.memory_calls, text, job_.run.texts);
        break;
      default:
        mpi_.take(text);
        break;
    }
  }

  void make_room() {
    const log::LogFile& file = log_.file;
    log_.arrival_by_id.reserve(rows().arrivals);
    ends_.make_room();
    mpi_.make_room(file.event_count(RecordType::mpi_call) +
                   file.event_count(RecordType::mpi_window_call) +
                   file.event_count(RecordType::mpi_file_call));
  }

  void read_events() {
    log_.file.for_each_record(
        Stream::events,
        Overloaded{[&](std::uint16_t lane, const log::UctOperationView& view) { take(lane, view); },
                   [&](std::uint16_t lane, const log::UcpOperationView& view) { take(lane, view); },
                   [&](std::uint16_t lane, const log::MpiCallView& view) {
                     ++log_.events_by_kind[kMpi];
                     check_time(lane, view.r.start_tick, view.r.duration_ticks);
                     mpi_.take(lane, view);
                   },
                   [&](std::uint16_t lane, const log::MpiRequestsView& view) {
                     ++log_.events_by_kind[kMpi];
                     ++mpi_request_records_;
                     mpi_.take(lane, view);
                   },
                   [&](std::uint16_t lane, const log::UctArrivalView& view) { take(lane, view); },
                   [&](std::uint16_t lane, const log::UctCompletionView& view) {
                     ++log_.events_by_kind[kUct];
                     check_time(lane, view.r.tick);
                     ends_.take(view, log_.uct_rows.end - next_.uct);
                   },
                   [&](std::uint16_t lane, const log::MemoryCallView& view) { take(lane, view); },
                   [&](std::uint16_t lane, const log::LibraryCallView& view) {
                     ++log_.events_by_kind[kMpi];
                     check_time(lane, view.r.start_tick, view.r.duration_ticks);
                     add_library_call(log_.library_calls, lane, view, callers_);
                   },
                   [&](std::uint16_t lane, const log::UctPendingView& view) {
                     ++log_.events_by_kind[kUct];
                     check_time(lane, view.r.tick);
                     pending_.take(view);
                   },
                   [&](std::uint16_t lane, const log::UcpCompletionView& view) {
                     ++log_.events_by_kind[kUcp];
                     check_time(lane, view.r.tick);
                     ends_.take(view, log_.ucp_rows.end - next_.ucp);
                   }});
    const Rows rows = this->rows();
    if (next_.uct != first_.uct + rows.uct || next_.ucp != first_.ucp + rows.ucp ||
        next_.arrivals != first_.arrivals + rows.arrivals) {
      throw std::logic_error("a log was read twice and did not hold the same");
    }
  }

  void take(std::uint16_t lane, const log::UctOperationView& view) {
    ++log_.events_by_kind[kUct];
    UctOp op;
    op.process = process_;
    op.lane = lane;
    op.interface = log_.interface_at(view.interface_id(), view.r.start_tick);
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
      checks_.id(lane, op.id, log_.uct_by_id.set(op.id, UctIndex(next_.uct)));
    }
    // An untimed message to self may have been handled inside its call.
    check_time(lane, op.start_tick, op.one_tick ? UINT64_MAX : view.r.duration_ticks);
    checks_.interface(op.interface);
    checks_.endpoint(op.endpoint);
    job_.uct.at(next_.uct++) = op;
  }

  void take(std::uint16_t lane, const log::MemoryCallView& view) {
    ++log_.events_by_kind[kUct];
    check_time(lane, view.r.start_tick, view.r.duration_ticks);
    add_memory_call(log_.memory_calls, lane, view);
  }

  void take(std::uint16_t lane, const log::UctArrivalView& view) {
    ++log_.events_by_kind[kUct];
    checks_.id(lane, view.r.id, log_.arrival_by_id.set(view.r.id, ArrivalIndex(next_.arrivals)));
    const bool is_timed = !view.one_tick() && view.duration_ticks() != UINT32_MAX;
    check_time(lane, view.r.start_tick, is_timed ? view.duration_ticks() : UINT64_MAX);
    const InterfaceIndex interface = log_.interface_at(view.interface_id(), view.r.start_tick);
    checks_.interface(interface);
    job_.arrivals.at(next_.arrivals++) = {process_,
                                          interface,
                                          view.r.am_id,
                                          view.r.kind,
                                          time(view.r.start_tick),
                                          words_of(view.header)};
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
    checks_.id(lane, op.id, log_.ucp_by_id.set(op.id, UcpIndex(next_.ucp)));
    // If an operation ends with its call, the call's record has the end.
    const bool ends_with_call = (op.flags & log::UcpOperation::kCallEnd) != 0;
    check_time(lane, op.start_tick, ends_with_call ? UINT64_MAX : view.r.duration_ticks);
    job_.ucp.at(next_.ucp++) = op;
  }

  bool is_tool_traffic(std::uint16_t lane, std::uint64_t tick) const {
    return std::any_of(
        log_.tool_traffic.begin(), log_.tool_traffic.end(), [&](const ToolTraffic& traffic) {
          return traffic.lane == lane && traffic.begin_tick <= tick && tick <= traffic.end_tick;
        });
  }

  // The meaning of the record's words depends on the family.
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
  ProcessIndex process_;
  ProcessLog& log_;
  Rows first_, next_;  // of this process in the job: its first ones, and the next to be filled
  CallerStacks callers_;
  MpiLoader mpi_;
  PeerLoader peers_;
  DeviceLoader devices_;
  RecordedLoader recorded_;
  OperationEnds ends_;
  RecordChecks checks_;
  std::uint64_t mpi_request_records_ = 0;
  PendingQueues pending_;
};

}  // namespace

void load_processes(Job& job) {
  std::vector<ProcessLoader> loaders;
  std::vector<ProcessLoader::Rows> first;
  loaders.reserve(job.logs.size());
  ProcessLoader::Rows rows;
  for (std::size_t i = 0; i < job.logs.size(); ++i) {
    ProcessLoader& loader = loaders.emplace_back(job, ProcessIndex(i));
    loader.load_definitions();
    first.push_back(rows);
    const ProcessLoader::Rows more = loader.rows();
    rows.uct += more.uct;
    rows.arrivals += more.arrivals;
    rows.ucp += more.ucp;
  }
  job.uct.resize(rows.uct);
  job.arrivals.resize(rows.arrivals);
  job.ucp.resize(rows.ucp);
  job.workers.each(loaders.size(), [&](std::size_t i) { loaders[i].load_events(first[i]); });
  for (std::size_t i = 0; i < loaders.size(); ++i) {
    first[i].calls = rows.calls;
    rows.calls += loaders[i].rows().calls;
    loaders[i].add_totals();
  }
  job.calls.resize(rows.calls);
  job.workers.each(loaders.size(), [&](std::size_t i) { loaders[i].place_calls(first[i].calls); });
}

}  // namespace uctrace::merge
