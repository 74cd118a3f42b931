#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

#include "log-merger/error.hpp"
#include "log-merger/job.hpp"

namespace uctrace::merge {

namespace {

namespace fs = std::filesystem;
using log::Overloaded;
using log::Stream;

std::vector<fs::path> log_paths(const fs::path& folder) {
  std::vector<fs::path> paths;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == kLogSuffix) {
      paths.push_back(it->path());
    }
  }
  if (error) {
    throw Error({fmt::format("cannot read '{}'", folder.string()), error.message(),
                 "name a folder made by `uctrace record`"});
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

std::uint64_t started_at(const log::LogFile& file) { return file.page().anchors[0].realtime_ns; }

// Reads every log; those that cannot be read leave a note.
std::vector<log::LogFile> read_logs(const fs::path& folder, std::vector<std::string>& notes) {
  std::vector<log::LogFile> files;
  std::string last_problem;
  for (const fs::path& path : log_paths(folder)) {
    try {
      files.push_back(log::LogFile::open(path));
    } catch (const Error& error) {
      last_problem = error.message();
      notes.push_back(last_problem);
    }
  }
  if (files.empty()) {
    throw Error({fmt::format("no log in '{}' can be read", folder.string()),
                 last_problem.empty() ? "it holds no *.ulog file" : last_problem,
                 "record a job with `uctrace record -- COMMAND`"});
  }
  return files;
}

// The logs of one job: the newest, or the one whose key begins with `wanted`.
std::vector<log::LogFile> choose_job(std::vector<log::LogFile> files, const std::string& wanted,
                                     std::vector<std::string>& notes) {
  std::map<std::string, std::uint64_t> newest;
  for (const log::LogFile& file : files) {
    auto& start = newest[std::string(file.job())];
    start = std::max(start, started_at(file));
  }
  const std::string* chosen = nullptr;
  for (const auto& [key, start] : newest) {
    if (key.starts_with(wanted) && (chosen == nullptr || start > newest[*chosen])) {
      chosen = &key;
    }
  }
  if (chosen == nullptr) {
    throw Error({fmt::format("no job '{}' in the folder", wanted),
                 fmt::format("it holds {} other(s)", newest.size()),
                 "leave --job out for the newest"});
  }
  if (newest.size() > 1) {
    notes.push_back(fmt::format("the folder holds {} jobs; this is {} '{}'; --job takes another",
                                newest.size(), wanted.empty() ? "the newest," : "", *chosen));
  }
  std::erase_if(files, [&](const log::LogFile& file) { return file.job() != *chosen; });
  return files;
}

// One process may appear twice (a copied file): the longer log stays.
void drop_duplicates(std::vector<log::LogFile>& files, std::vector<std::string>& notes) {
  std::map<std::string, std::size_t> kept;
  std::vector<log::LogFile> unique;
  for (log::LogFile& file : files) {
    const auto [place, fresh] = kept.try_emplace(file.process_key(), unique.size());
    if (fresh) {
      unique.push_back(std::move(file));
      continue;
    }
    notes.push_back(fmt::format("{}: a second log of process {}; the longer one is used",
                                file.name(), file.process_key()));
    if (file.event_count() > unique[place->second].event_count()) {
      unique[place->second] = std::move(file);
    }
  }
  files = std::move(unique);
}

HeaderWords words_of(log::Words header) {
  HeaderWords result;
  result.count = static_cast<std::uint8_t>(std::min(header.size(), result.words.size()));
  std::copy_n(header.begin(), result.count, result.words.begin());
  return result;
}

std::string text_of(log::Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Lengths keep two addresses from running into each other.
std::string joined(log::Bytes first, log::Bytes second) {
  return fmt::format("{}:", first.size()) + text_of(first) + text_of(second);
}

template <typename Row>
void sort_by_handle(std::vector<Row>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.handle != b.handle ? a.handle < b.handle : a.tick < b.tick;
  });
}

class ProcessLoader {
 public:
  ProcessLoader(Job& job, Index process)
      : job_(job), process_(process), log_(job.logs[static_cast<std::size_t>(process)]) {}

  void load() {
    load_definitions();
    load_events();
    finish_endpoints();
    sum_counters();
  }

 private:
  Texts& texts() { return job_.run.texts; }
  std::int64_t time(std::uint64_t tick) const { return log_.clock.job_ns(tick); }

  void load_definitions() {
    std::vector<Endpoint> connections, own_addresses;
    log_.file.for_each_record(
        Stream::definitions,
        Overloaded{
            [&](std::uint16_t, const log::TextView& text) { take_text(text); },
            [&](std::uint16_t, const log::UctInterfaceView& view) { take_interface(view); },
            [&](std::uint16_t, const log::UctEndpointView& view) { take_endpoint(view); },
            [&](std::uint16_t, const log::UcpWorkerView& view) {
              log_.workers.push_back({view.r.handle, view.r.tick, view.r.uid});
            },
            [&](std::uint16_t, const log::UcpEndpointView& view) {
              log_.ucp_endpoints.push_back(
                  {view.r.handle, view.r.tick, view.r.remote_uid, view.r.worker});
            },
            [&](std::uint16_t, const log::CommunicatorView& view) {
              log_.comms.push_back({view.r.handle, view.r.tick, view.r.parent, view.r.size,
                                    view.r.ordinal, view.r.function, view.inter(), view, kNoText});
            },
            [&](std::uint16_t, const log::FaultView& view) {
              log_.faults.emplace_back(view.r, std::string(view.detail));
            }});
    sort_by_handle(log_.workers);
    sort_by_handle(log_.ucp_endpoints);
    sort_by_handle(log_.comms);
    name_communicators();
  }

  void take_text(const log::TextView& text) {
    const std::string value(text.text);
    switch (text.kind()) {
      case log::TextKind::command_line: log_.command_line = value; break;
      case log::TextKind::environment: log_.environment.push_back(value); break;
      case log::TextKind::ucx_version: log_.ucx_version = value; break;
      case log::TextKind::ucx_library: log_.ucx_library = value; break;
      case log::TextKind::mpi_library: log_.mpi_library = value; break;
      case log::TextKind::mpi_function: functions_[text.r.id] = texts().intern(value); break;
      case log::TextKind::communicator_name:
        comm_names_.push_back({text.r.id, text.r.tick, texts().intern(value)});
        break;
      default: break;
    }
    if (log_.mpi_library.starts_with("Open MPI")) {
      log_.flavour = MpiFlavour::open_mpi;
    } else if (log_.mpi_library.find("MPICH") != std::string::npos) {
      log_.flavour = MpiFlavour::mpich;
    }
  }

  void take_interface(const log::UctInterfaceView& view) {
    log_.interfaces.push_back({view.interface_id(), view.r.ucp_worker != 0,
                               texts().intern(view.transport), texts().intern(view.device),
                               texts().intern(view.memory_domain),
                               joined(view.device_address, view.interface_address)});
  }

  void take_endpoint(const log::UctEndpointView& view) {
    Endpoint row;
    row.handle = view.r.handle;
    row.tick = view.r.tick;
    row.interface = view.interface_id();
    switch (view.type()) {
      case log::RecordType::uct_endpoint:
        if (!view.address.empty() || !view.device_address.empty()) {
          row.remote = joined(view.device_address, view.address);
          row.connected_tick = view.r.tick;
        }
        log_.endpoints.push_back(std::move(row));
        break;
      case log::RecordType::uct_endpoint_address:
        row.own_address = text_of(view.address);
        own_addresses_.push_back(std::move(row));
        break;
      default:
        row.remote = text_of(view.address);
        connections_.push_back(std::move(row));
    }
  }

  void finish_endpoints() {
    sort_by_handle(log_.endpoints);
    for (const Endpoint& address : own_addresses_) {
      if (const Index at = row_at(log_.endpoints, address.handle, address.tick); at != kNone) {
        log_.endpoints[static_cast<std::size_t>(at)].own_address = address.own_address;
      }
    }
    for (const Endpoint& connection : connections_) {
      if (const Index at = row_at(log_.endpoints, connection.handle, connection.tick); at != kNone) {
        Endpoint& row = log_.endpoints[static_cast<std::size_t>(at)];
        row.remote = connection.remote;
        row.to_endpoint = true;
        row.connected_tick = connection.tick;
      }
    }
  }

  // The program's own name, else how and by whom it was made: the same on every member.
  void name_communicators() {
    for (Comm& comm : log_.comms) {
      for (const NameRow& name : comm_names_) {
        if (name.handle == comm.handle && name.tick >= comm.tick && name_is_of(name, comm)) {
          comm.name = name.text;
        }
      }
      if (comm.name == kNoText) {
        const auto leader = comm.members.world_rank(0);
        comm.name = texts().intern(fmt::format(
            "{}#{}@{}", texts()[function(comm.function)], comm.ordinal,
            leader ? std::to_string(*leader) : "?"));
      }
    }
  }

  struct NameRow {
    std::uint64_t handle, tick;
    TextId text;
  };

  // Not of a later communicator with the same handle.
  bool name_is_of(const NameRow& name, const Comm& comm) const {
    const Index at = row_at(log_.comms, name.handle, name.tick);
    return at != kNone && &log_.comms[static_cast<std::size_t>(at)] == &comm;
  }

  TextId function(std::uint64_t number) const {
    const auto found = functions_.find(number);
    return found != functions_.end() ? found->second : kNoText;
  }

  void load_events() {
    struct End {
      std::int32_t status;
      std::uint64_t tick, sender_tag, length;
      bool of_receive;
    };
    std::unordered_map<log::Id, End> ucp_ends;
    std::unordered_map<log::Id, std::uint64_t> uct_ends;
    log_.file.for_each_record(
        Stream::events,
        Overloaded{
            [&](std::uint16_t lane, const log::UctOperationView& view) { take(lane, view); },
            [&](std::uint16_t lane, const log::UcpOperationView& view) { take(lane, view); },
            [&](std::uint16_t lane, const log::MpiCallView& view) { take(lane, view); },
            [&](std::uint16_t, const log::UctArrivalView& view) { take(view); },
            [&](std::uint16_t, const log::UctCompletionView& view) {
              uct_ends[view.r.operation] = view.r.tick;
            },
            [&](std::uint16_t, const log::UcpCompletionView& view) {
              ucp_ends[view.r.operation] = {view.status(), view.r.tick, view.r.sender_tag,
                                            view.r.length, view.of_receive};
            }});
    for (const auto& [id, tick] : uct_ends) {
      if (const auto op = log_.uct_by_id.find(id); op != log_.uct_by_id.end()) {
        job_.uct[static_cast<std::size_t>(op->second)].complete_ns = time(tick);
      }
    }
    for (const auto& [id, end] : ucp_ends) {
      if (const auto found = log_.ucp_by_id.find(id); found != log_.ucp_by_id.end()) {
        UcpOp& op = job_.ucp[static_cast<std::size_t>(found->second)];
        op.ended = true;
        op.end_status = end.status;
        op.end_ns = time(end.tick);
        op.sender_tag = end.sender_tag;
        op.received_bytes = end.length;
      }
    }
    for (auto& calls : log_.calls_of_lane) {
      std::stable_sort(calls.begin(), calls.end(), [&](Index a, Index b) {
        return job_.calls[static_cast<std::size_t>(a)].start_tick <
               job_.calls[static_cast<std::size_t>(b)].start_tick;
      });
    }
  }

  void take(std::uint16_t lane, const log::UctOperationView& view) {
    UctOp op;
    op.process = process_;
    op.lane = lane;
    op.interface = view.interface_id();
    op.op = view.r.op;
    op.origin_kind = view.r.origin_kind;
    op.route = view.r.route;
    op.am_id = view.r.am_id;
    op.status = view.status();
    op.id = view.id;
    op.origin = view.r.origin;
    op.start_tick = view.r.start_tick;
    op.endpoint = view.r.endpoint;
    op.bytes = view.r.bytes;
    op.local = view.local.value_or(0);
    op.remote = view.remote.value_or(0);
    op.start_ns = time(view.r.start_tick);
    op.end_ns = time(view.r.start_tick + view.r.duration_ticks);
    op.complete_ns = op.status == 0 ? op.end_ns : -1;
    op.header = words_of(view.header);
    if (op.id != 0) {
      log_.uct_by_id[op.id] = static_cast<Index>(job_.uct.size());
    }
    job_.uct.push_back(op);
  }

  void take(const log::UctArrivalView& view) {
    log_.arrival_by_id[view.r.id] = static_cast<Index>(job_.arrivals.size());
    job_.arrivals.push_back({process_, view.interface_id(), view.r.am_id, time(view.r.start_tick),
                             words_of(view.header)});
  }

  void take(std::uint16_t lane, const log::UcpOperationView& view) {
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
    op.tag = view.r.tag;
    op.tag_mask = view.r.tag_mask;
    op.buffer = view.r.buffer;
    op.posted_tick = view.r.posted_tick;
    op.start_ns = time(view.r.start_tick);
    op.posted_ns = time(view.r.posted_tick);
    op.ended = op.status <= 0;
    op.end_status = op.status;
    op.end_ns = op.ended ? time(view.r.start_tick + view.r.duration_ticks) : -1;
    log_.ucp_by_id[op.id] = static_cast<Index>(job_.ucp.size());
    job_.ucp.push_back(op);
  }

  void take(std::uint16_t lane, const log::MpiCallView& view) {
    MpiCall call;
    call.process = process_;
    call.lane = lane;
    call.function = function(view.function());
    call.status = view.status();
    call.start_tick = view.r.start_tick;
    call.end_tick = view.r.start_tick + view.r.duration_ticks;
    call.comm_handle = view.r.communicator;
    call.peer = view.r.peer;
    call.tag = view.r.tag;
    call.bytes = view.r.bytes;
    call.recv_peer = view.r.recv_peer;
    call.recv_tag = view.r.recv_tag;
    call.recv_bytes = view.r.recv_bytes;
    call.start_ns = time(call.start_tick);
    call.end_ns = time(call.end_tick);
    call.comm = call.comm_handle != 0 ? row_at(log_.comms, call.comm_handle, call.start_tick) : kNone;
    if (lane >= log_.calls_of_lane.size()) {
      log_.calls_of_lane.resize(lane + 1u);
    }
    log_.calls_of_lane[lane].push_back(static_cast<Index>(job_.calls.size()));
    job_.calls.push_back(call);
  }

  void sum_counters() {
    for (const log::LaneInfo& lane : log_.file.lanes()) {
      const auto* from = reinterpret_cast<const std::uint64_t*>(&lane.counters);
      auto* to = reinterpret_cast<std::uint64_t*>(&log_.totals);
      for (std::size_t i = 0; i < sizeof(log::LaneCounters) / sizeof(std::uint64_t); ++i) {
        to[i] += from[i];
      }
    }
  }

  Job& job_;
  Index process_;
  ProcessLog& log_;
  std::unordered_map<std::uint64_t, TextId> functions_;
  std::vector<NameRow> comm_names_;
  std::vector<Endpoint> own_addresses_, connections_;
};

// One clock for the job: CLOCK_MONOTONIC_RAW within a host; hosts are set against each other by
// their wall clocks, which is as good as the site's time service.
void place_on_one_clock(Job& job) {
  std::map<std::string, std::int64_t, std::less<>> host_offset;
  std::int64_t first = INT64_MAX;
  for (ProcessLog& log : job.logs) {
    if (log.clock.anchors().empty()) {
      continue;
    }
    const log::Anchor& anchor = log.clock.anchors().front();
    host_offset.try_emplace(std::string(log.file.boot_id()),
                            static_cast<std::int64_t>(anchor.realtime_ns) -
                                log.clock.monotonic_ns(anchor.tick));
  }
  for (ProcessLog& log : job.logs) {
    log.clock.set_job_offset(host_offset[std::string(log.file.boot_id())]);
    if (!log.clock.anchors().empty()) {
      first = std::min(first, log.clock.job_ns(log.clock.anchors().front().tick));
    }
    job.clock_error_ns =
        std::max(job.clock_error_ns, static_cast<double>(log.clock.max_deviation_ns()));
  }
  first = first == INT64_MAX ? 0 : first;
  job.run.epoch_realtime_ns = static_cast<std::uint64_t>(first);
  for (ProcessLog& log : job.logs) {
    log.clock.set_job_offset(host_offset[std::string(log.file.boot_id())] - first);
  }
}

// A process too short for two anchors takes the tick rate of another on its host.
void share_clock_rates(Job& job) {
  for (ProcessLog& log : job.logs) {
    for (const ProcessLog& other : job.logs) {
      if (!log.clock.rate_known() && other.clock.rate_known() &&
          other.file.boot_id() == log.file.boot_id()) {
        log.clock.adopt_rate(other.clock.ns_per_tick());
      }
    }
  }
}

void note_missing_ranks(Job& job) {
  std::set<std::int32_t> present;
  std::int32_t size = 0;
  for (const ProcessLog& log : job.logs) {
    present.insert(log.rank());
    size = std::max(size, log.file.page().world_size);
  }
  std::string missing;
  for (std::int32_t rank = 0, named = 0; rank < size; ++rank) {
    if (!present.contains(rank) && ++named <= 16) {
      missing += (missing.empty() ? "" : ", ") + std::to_string(rank);
    }
  }
  if (!missing.empty()) {
    job.run.notes.push_back(fmt::format(
        "no log of rank {} (of {}): its file is missing, or the process could not write one; what "
        "it sent and received is unmatched",
        missing, size));
  }
}

}  // namespace

const Interface* ProcessLog::interface(std::uint16_t id) const {
  if (id >= 1 && id <= interfaces.size() && interfaces[id - 1u].id == id) {
    return &interfaces[id - 1u];
  }
  for (const Interface& candidate : interfaces) {
    if (candidate.id == id) {
      return &candidate;
    }
  }
  return nullptr;
}

bool UcpOp::received() const {
  constexpr std::int32_t kTruncated = -9;  // UCS_ERR_MESSAGE_TRUNCATED
  return !is_send() && accepted() && ended && (end_status == 0 || end_status == kTruncated);
}

Job load_job(const std::filesystem::path& folder, const MergeOptions& options) {
  Job job;
  std::vector<log::LogFile> files =
      choose_job(read_logs(folder, job.run.notes), options.job, job.run.notes);
  drop_duplicates(files, job.run.notes);
  std::stable_sort(files.begin(), files.end(), [](const log::LogFile& a, const log::LogFile& b) {
    const auto key = [](const log::LogFile& f) {
      const std::int32_t rank = f.page().world_rank;
      return std::pair(rank < 0 ? INT32_MAX : rank, started_at(f));
    };
    return key(a) < key(b);
  });
  for (log::LogFile& file : files) {
    job.logs.emplace_back(std::move(file));
  }
  share_clock_rates(job);
  place_on_one_clock(job);
  for (std::size_t i = 0; i < job.logs.size(); ++i) {
    ProcessLoader(job, static_cast<Index>(i)).load();
    for (const std::string& sentence : job.logs[i].file.damage().sentences()) {
      job.run.notes.push_back(fmt::format("{}: {}", job.logs[i].file.name(), sentence));
    }
  }
  note_missing_ranks(job);
  return job;
}

}  // namespace uctrace::merge
