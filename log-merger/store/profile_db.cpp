#include "log-merger/store/profile_db.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <system_error>
#include <tuple>
#include <unordered_map>

#include "event-log/format/version.hpp"
#include "event-log/reader/error.hpp"
#include "event-log/reader/input_file.hpp"
#include "log-merger/folder/new_file.hpp"
#include "log-merger/store/mpisee.hpp"
#include "log-merger/store/profile_schema.hpp"
#include "log-merger/store/sqlite_file.hpp"
#include "log-merger/store/store_room.hpp"
#include "log-merger/summaries/call_parts.hpp"
#include "log-merger/summaries/profile.hpp"
#include "log-merger/summaries/run_facts.hpp"

namespace uctrace {

namespace {

using sqlite::File;
using sqlite::Insert;

constexpr std::uint32_t kApplicationId = 0x75637472;  // "uctr"
constexpr double kSecond = 1e9;

double seconds(std::uint64_t ns) { return static_cast<double>(ns) / kSecond; }

std::optional<std::int64_t> known(std::int64_t value) {
  return value < 0 ? std::nullopt : std::optional(value);
}

// The processes of the first world by rank, then those of later worlds, then those without MPI.
std::vector<std::int64_t> number_processes(const Run& run) {
  std::map<std::int32_t, std::int64_t> sizes;
  for (const Process& process : run.processes) {
    if (process.world < 0) continue;
    std::int64_t& size = sizes[process.world];
    size = std::max({size, std::int64_t{process.world_size}, process.rank + std::int64_t{1}});
  }
  std::map<std::int32_t, std::int64_t> first_of;
  std::int64_t next = 0;
  for (const auto& [world, size] : sizes) {
    first_of[world] = next;
    next += size;
  }
  std::vector<std::int64_t> numbers;
  for (const Process& process : run.processes) {
    numbers.push_back(process.world >= 0 ? first_of[process.world] + process.rank : next++);
  }
  return numbers;
}

// Numbers of operations: mpisee's in its order, with the run's other operations added to their
// class.
class Operations {
 public:
  Operations(const Run& run, const Profile& profile) {
    std::map<std::string, TextId> others;
    std::set<TextId> functions;
    for (const ProfileCalls& calls : profile.calls) functions.insert(calls.function);
    for (const ProfilePeers& peers : profile.peers) functions.insert(peers.function);
    for (const TextId function : functions) add(run, function, others);
    const auto others_of = [&](std::initializer_list<MpiKind> kinds) {
      for (const auto& [name, function] : others) {
        const MpiKind kind = parse_mpi_name(run.texts[function]).kind;
        if (std::find(kinds.begin(), kinds.end(), kind) != kinds.end()) names_.push_back(name);
      }
    };
    for (const std::string_view name : mpisee::operations()) {
      if (name == mpisee::kLastPointToPoint) others_of({MpiKind::p2p});
      if (name == mpisee::kFirstCollective) others_of({MpiKind::completion, MpiKind::rma});
      names_.emplace_back(name);
    }
    others_of({MpiKind::collective, MpiKind::io, MpiKind::management});
    std::map<std::string, std::uint64_t> numbers;
    for (std::size_t i = 0; i < names_.size(); ++i) numbers[names_[i]] = i;
    for (const TextId function : functions) {
      number_of_[function] = numbers.at(mpisee::operation_name(run.texts[function]));
    }
  }

  std::uint64_t number(TextId function) const { return number_of_.at(function); }
  const std::vector<std::string>& names() const { return names_; }

 private:
  static void add(const Run& run, TextId function, std::map<std::string, TextId>& others) {
    const std::string name = mpisee::operation_name(run.texts[function]);
    const auto all = mpisee::operations();
    if (std::find(all.begin(), all.end(), name) == all.end()) others.emplace(name, function);
  }

  std::vector<std::string> names_;
  std::unordered_map<TextId, std::uint64_t> number_of_;
};

class Writer {
 public:
  Writer(const Run& run, const std::string& path)
      : run_(run),
        profile_of_run_(run.profile ? run.profile
                                    : std::make_shared<const Profile>(profile_of(run))),
        profile_(*profile_of_run_),
        operations_(run, profile_),
        numbers_(number_processes(run)),
        file_(path) {}

  void write() {
    file_.run(kMpiseeTables);
    file_.run(kOwnTables);
    file_.run(fmt::format("PRAGMA user_version = {}; PRAGMA application_id = {}", kProfileSchema,
                          kApplicationId));
    write_metadata();
    write_operations();
    write_processes();
    write_communicators();
    write_call_sites();
    write_datatypes();
    write_calls();
    write_data();
    write_messages();
    file_.close();
  }

 private:
  const std::string& text(TextId id) const { return run_.texts[id]; }
  std::optional<std::string> text_or_null(TextId id) const {
    return id == kNoText ? std::nullopt : std::optional(text(id));
  }
  std::uint64_t operation(TextId function) const { return operations_.number(function); }
  // mpisee numbers communicators from 1. The last number is for calls without a communicator.
  std::int64_t communicator(std::int32_t index) const {
    return index < 0 ? static_cast<std::int64_t>(run_.communicators.size()) + 1 : index + 1;
  }
  std::optional<std::int64_t> process(std::int32_t index) const {
    return index < 0 ? std::nullopt : std::optional(numbers_[static_cast<std::size_t>(index)]);
  }

  void write_metadata() {
    const std::string recorded = recording_sentence(run_);
    const std::size_t ranks = static_cast<std::size_t>(
        std::count_if(run_.processes.begin(), run_.processes.end(),
                      [](const Process& process) { return process.world >= 0; }));
    const bool complete = std::all_of(run_.processes.begin(), run_.processes.end(),
                                      [](const Process& process) { return process.complete; });
    const auto started = static_cast<std::time_t>(run_.epoch_realtime_ns / 1'000'000'000);
    Insert insert(file_, "INSERT INTO metadata VALUES(?, ?)");
    insert.row("MPI Library", facts_of(run_).mpi);
    insert.row("Processes", std::to_string(ranks));
    insert.row("Run command", run_.command);
    insert.row("mpisee version", fmt::format("4.1 (written by uctrace {})", log::kToolVersion));
    insert.row("mpisee build date", "none");
    insert.row("Profile date", fmt::format("{:%Y-%m-%d %H:%M:%S} UTC", fmt::gmtime(started)));
    insert.row("uctrace version", log::kToolVersion);
    insert.row("run id", run_.run_id);
    insert.row("store id", run_.store_id);
    insert.row("clock error ns", clock_error_ns(run_).dump());
    insert.row("recorded", recorded.empty() ? "all" : recorded);
    insert.row("complete", complete ? "yes" : "no");
  }

  void write_operations() {
    Insert insert(file_, "INSERT INTO operations VALUES(?, ?)");
    for (std::size_t i = 0; i < operations_.names().size(); ++i) {
      insert.row(std::uint64_t{i}, operations_.names()[i]);
    }
  }

  struct Times {
    std::int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    std::uint64_t mpi_ns = 0;

    // Never 0, because the script divides by it.
    double exec_time() const {
      return last_ns > first_ns ? seconds(static_cast<std::uint64_t>(last_ns - first_ns)) : 1e-9;
    }
  };

  // From the first call of a process to the end of its last one: MPI_Init to MPI_Finalize.
  std::vector<Times> times_of_processes() const {
    std::vector<Times> times(run_.processes.size());
    for (const MpiCallRow& call : run_.mpi_calls) {
      Times& of_process = times[call.process];
      of_process.first_ns = std::min(of_process.first_ns, call.t_start_ns);
      of_process.last_ns = std::max({of_process.last_ns, call.t_start_ns, call.t_end_ns});
      of_process.mpi_ns += CallParts::duration_of(call);
    }
    return times;
  }

  void write_processes() {
    const std::vector<Times> times = times_of_processes();
    Insert machine(file_, "INSERT INTO mappings VALUES(?, ?)");
    Insert time(file_, "INSERT INTO exectimes VALUES(?, ?)");
    Insert own(file_, "INSERT INTO processes VALUES(?, ?, ?, ?, ?, ?, ?, ?)");
    for (std::size_t i = 0; i < run_.processes.size(); ++i) {
      const Process& process = run_.processes[i];
      machine.row(numbers_[i], text(process.host));
      time.row(numbers_[i], times[i].exec_time());
      own.row(numbers_[i], known(process.world), known(process.rank), text(process.host),
              process.pid, text(process.key), times[i].exec_time(), seconds(times[i].mpi_ns));
    }
  }

  void write_communicators() {
    Insert comm(file_, "INSERT INTO comms VALUES(?, ?, ?)");
    Insert own(file_, "INSERT INTO communicators VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    Insert member(file_, "INSERT INTO members VALUES(?, ?, ?, ?, ?)");
    for (std::size_t i = 0; i < run_.communicators.size(); ++i) {
      const Communicator& row = run_.communicators[i];
      const std::int64_t id = communicator(static_cast<std::int32_t>(i));
      comm.row(id, text(row.name), row.size + row.remote_size);
      own.row(id, text_or_null(row.user_name), text_or_null(row.function),
              row.parent < 0 ? std::nullopt : std::optional(communicator(row.parent)),
              known(row.world), known(row.leader), known(row.remote_world),
              known(row.remote_leader), row.remote_size, row.complete, known(row.created_ns),
              known(row.freed_ns));
      for (std::uint32_t m = 0; m < row.members; ++m) {
        const MemberRun& run = run_.communicator_members[row.first_member + m];
        member.row(id, run.remote, run.first, run.stride, run.count);
      }
    }
    // Calls on no communicator, such as a wait for nothing.
    comm.row(communicator(-1), "-", 1);
  }

  void write_call_sites() {
    Insert insert(file_, "INSERT INTO call_sites VALUES(?, ?, ?, ?, ?, ?)");
    for (std::size_t i = 0; i < run_.call_sites.size(); ++i) {
      const CallSite& site = run_.call_sites[i];
      insert.row(std::uint64_t{i}, text(site.label), text_or_null(site.function),
                 text_or_null(site.file), site.line == 0 ? std::nullopt : std::optional(site.line),
                 text_or_null(site.module));
    }
  }

  void write_datatypes() {
    Insert insert(file_, "INSERT INTO datatypes VALUES(?, ?, ?, ?, ?, ?)");
    for (std::size_t i = 0; i < run_.datatypes.size(); ++i) {
      const Datatype& datatype = run_.datatypes[i];
      insert.row(std::uint64_t{i}, text_or_null(datatype.name), text(datatype.combiner),
                 datatype.size, datatype.extent, datatype.contiguous);
    }
  }

  void write_calls() {
    Insert insert(file_, "INSERT INTO calls VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (const ProfileCalls& row : profile_.calls) {
      insert.row(communicator(row.communicator), operation(row.function), numbers_[row.process],
                 row.peer == INT32_MIN ? std::nullopt : std::optional(row.peer),
                 known(row.call_site), row.sent_bytes, row.received_bytes, known(row.datatype),
                 known(row.recv_datatype), row.calls, seconds(row.time_ns), seconds(row.min_ns),
                 seconds(row.max_ns));
    }
  }

  struct Data {
    mpisee::Bucket bucket{};
    std::uint64_t calls = 0, time_ns = 0, volume = 0;
  };

  void write_data() {
    std::map<std::tuple<std::int64_t, std::int64_t, std::uint64_t, std::uint64_t>, Data> rows;
    std::unordered_map<TextId, MpiName> names;
    for (const ProfileCalls& calls : profile_.calls) {
      const auto [known, is_new] = names.try_emplace(calls.function);
      if (is_new) known->second = parse_mpi_name(text(calls.function));
      const MpiName& name = known->second;
      mpisee::CallBytes bytes{calls.sent_bytes, calls.received_bytes, 1};
      if (calls.communicator >= 0) {
        bytes.group =
            group_size(run_, run_.communicators[static_cast<std::size_t>(calls.communicator)],
                       run_.processes[calls.process]);
      }
      const std::uint64_t volume = mpisee::volume(name, bytes);
      const mpisee::Bucket bucket = mpisee::bucket(name, volume);
      Data& data = rows[{numbers_[calls.process], communicator(calls.communicator),
                         operation(calls.function), bucket.min}];
      data.bucket = bucket;
      data.calls += calls.calls;
      data.time_ns += calls.time_ns;
      data.volume += volume * calls.calls;
    }
    Insert insert(file_,
                  "INSERT INTO data(rank, comm_id, operation_id, buffer_size_min, buffer_size_max, "
                  "calls, time, volume) VALUES(?, ?, ?, ?, ?, ?, ?, ?)");
    for (const auto& [key, data] : rows) {
      const auto& [rank, comm, operation_number, least] = key;
      insert.row(rank, comm, operation_number, least, data.bucket.max, data.calls,
                 seconds(data.time_ns), data.volume);
    }
  }

  void write_messages() {
    Insert peer(file_, "INSERT INTO peers VALUES(?, ?, ?, ?, ?, ?)");
    for (const ProfilePeers& row : profile_.peers) {
      peer.row(communicator(row.communicator), operation(row.function), process(row.process),
               process(row.peer_process), row.messages, row.bytes);
    }
    Insert transport(file_, "INSERT INTO transports VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");
    for (const ProfileTransfers& row : profile_.transfers) {
      transport.row(communicator(row.communicator), operation(row.function), process(row.process),
                    process(row.peer_process), text_or_null(row.transport),
                    text_or_null(row.device), text_or_null(row.remote_device), text_or_null(row.op),
                    name_of(row.role), row.transfers, row.bytes, row.wire_bytes);
    }
  }

  const Run& run_;
  const std::shared_ptr<const Profile> profile_of_run_;
  const Profile& profile_;
  const Operations operations_;
  const std::vector<std::int64_t> numbers_;  // of processes
  File file_;
};

}  // namespace

void save_profile(const Run& run, const std::filesystem::path& path,
                  const std::function<void()>& before_publishing) {
  std::string why;
  try {
    remove_leftovers(path);
    NewFile file(path);
    // SQLite does not follow links, which the folder's path may contain.
    const auto folder = std::filesystem::canonical(
        file.path().parent_path().empty() ? "." : file.path().parent_path());
    Writer(run, (folder / file.path().filename()).string()).write();
    if (before_publishing) before_publishing();
    file.publish();
    return;
  } catch (const sqlite::Failure& failure) {
    why = failure.what();
  } catch (const std::system_error& error) {
    why = why_not_written(error);
  }
  throw no_store("cannot write the profile " + path.string(), why, run, path);
}

// The header of SQLite files contains the application id.
bool is_profile(const std::filesystem::path& path) {
  constexpr std::size_t kApplicationIdAt = 68;
  unsigned char header[100] = {};
  log::InputFile file(path.string());
  if (!file.is_open() || file.read(header, sizeof header, 0) != sizeof header) return false;
  std::uint32_t id = 0;
  for (std::size_t i = 0; i < sizeof id; ++i) id = id << 8 | header[kApplicationIdAt + i];
  return id == kApplicationId;
}

std::string store_id_of_profile(const std::filesystem::path& path) {
  if (!is_profile(path)) return {};
  return sqlite::one_text(path.string(), "SELECT value FROM metadata WHERE key = 'store id'");
}

}  // namespace uctrace
