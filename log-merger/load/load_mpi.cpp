#include "log-merger/load/load_mpi.hpp"

#include <algorithm>
#include <utility>

#include "event-log/reader/plain_text.hpp"

namespace uctrace::merge {

void MpiLoader::take(const log::TextView& text) {
  switch (text.kind()) {
    case log::TextKind::mpi_library:
      log_.mpi_library = plain_text(text.text);
      if (text.text.starts_with("Open MPI")) {
        log_.flavour = MpiFlavour::open_mpi;
      } else if (text.text.find("MPICH") != std::string_view::npos) {
        log_.flavour = MpiFlavour::mpich;
      }
      break;
    case log::TextKind::mpi_function:
      functions_[text.r.id] = texts().intern(text.text);
      log_.mpi_functions.push_back(functions_[text.r.id]);
      break;
    case log::TextKind::communicator_name:
      comm_names_.push_back({text.r.id, text.r.tick, texts().intern(text.text)});
      break;
    default:
      break;
  }
}

void MpiLoader::take(const log::CommunicatorView& view) {
  Comm comm;
  comm.handle = view.r.handle;
  comm.tick = view.r.tick;
  comm.parent = view.r.parent;
  comm.rank = view.r.rank;
  comm.size = view.r.size;
  comm.ordinal = view.r.ordinal;
  comm.function_number = view.r.function;
  comm.inter = view.inter();
  comm.members = view.runs;
  comm.has_members = view.has_members();
  comm.truncated = view.truncated();
  comm.leader = view.r.leader;
  comm.remote_leader = view.r.remote_leader;
  comm.remote_size = view.inter() ? view.r.remote_size : 0;
  comm.group_hash = view.r.group_hash;
  log_.comms.push_back(comm);
}

void MpiLoader::take(const log::HandleEndView& view) {
  if (view.type() == log::RecordType::communicator_free) {
    comm_ends_.push_back({view.r.handle, view.r.tick, kNoText});
  } else if (view.type() == log::RecordType::datatype_free) {
    datatypes_.take_end(view.r.handle, view.r.tick);
  }
}

void MpiLoader::take(const log::WindowView& view) {
  const bool is_window = view.type() == log::RecordType::window;
  (is_window ? windows_ : files_).push_back({view.r.handle, view.r.tick, view.r.communicator});
}

// Windows and files outlive their communicator: its handle is resolved at their creation.
void MpiLoader::finish_definitions() {
  datatypes_.finish();
  sort_by_handle(log_.comms);
  take_names_and_ends();
  const auto resolve = [&](const std::vector<NewObject>& made, std::vector<CommObject>& rows) {
    for (const NewObject& object : made) {
      rows.push_back(
          {object.handle, object.tick, row_at(log_.comms, object.communicator, object.tick)});
    }
    sort_by_handle(rows);
  };
  resolve(windows_, log_.windows);
  resolve(files_, log_.files);
}

Comm* MpiLoader::comm_at(const CommEvent& event) {
  const CommIndex at = row_at(log_.comms, event.handle, event.tick);
  return at == kNone ? nullptr : &log_.comms[at];
}

Predefined predefined_by_name(std::string_view name) {
  return name == "MPI_COMM_WORLD"    ? Predefined::world
         : name == "MPI_COMM_SELF"   ? Predefined::self
         : name == "MPI_COMM_PARENT" ? Predefined::parent
                                     : Predefined::none;
}

// The newest name of each; the first name of a predefined communicator is MPI's.
void MpiLoader::take_names_and_ends() {
  for (Comm& comm : log_.comms) {
    comm.function = function(comm.function_number);
  }
  std::stable_sort(comm_names_.begin(), comm_names_.end(),
                   [](const CommEvent& a, const CommEvent& b) { return a.tick < b.tick; });
  for (const CommEvent& name : comm_names_) {
    if (Comm* comm = comm_at(name)) {
      if (comm->name == kNoText && comm->parent == 0) {
        comm->predefined = predefined_by_name(texts()[name.text]);
      }
      comm->name = name.text;
    }
  }
  for (const CommEvent& end : comm_ends_) {
    if (Comm* comm = comm_at(end)) {
      comm->freed_tick = end.tick;
    }
  }
}

TextId MpiLoader::function(std::uint64_t number) const {
  const auto found = functions_.find(number);
  return found != functions_.end() ? found->second : kNoText;
}

CommIndex MpiLoader::comm_of(log::RecordType type, std::uint64_t scope, std::uint64_t tick) const {
  if (scope == 0) {
    return kNone;
  }
  if (type == log::RecordType::mpi_call) {
    return row_at(log_.comms, scope, tick);
  }
  const Rows<CommObject>& objects =
      type == log::RecordType::mpi_window_call ? log_.windows : log_.files;
  const auto object = row_at(objects, scope, tick);
  return object == kNone ? kNone : objects[object].comm;
}

static WindowIndex object_of(const ProcessLog& log, log::RecordType type, std::uint64_t scope,
                             std::uint64_t tick) {
  if (type == log::RecordType::mpi_window_call) return row_at(log.windows, scope, tick);
  if (type == log::RecordType::mpi_file_call) return row_at(log.files, scope, tick);
  return {};
}

void MpiLoader::take(std::uint16_t lane, const log::MpiCallView& view) {
  MpiCall call;
  call.lane = lane;
  call.function = function(view.function());
  call.status = view.status();
  call.on_window = view.on_window();
  call.start_tick = view.r.start_tick;
  call.end_tick = view.r.start_tick + view.r.duration_ticks;
  call.peer = view.peer.peer;
  call.tag = view.peer.tag;
  call.bytes = view.volume.bytes;
  call.recv_peer = view.recv_peer.peer;
  call.recv_tag = view.recv_peer.tag;
  call.recv_bytes = view.recv_volume.bytes;
  call.datatype = datatypes_.at(view.volume.datatype, view.r.start_tick);
  call.recv_datatype = datatypes_.at(view.recv_volume.datatype, view.r.start_tick);
  call.end_ns = log_.clock.job_ns(call.end_tick);
  call.request = view.request;
  call.stack = view.stack != 0 ? view.stack : callers_.stack_of(view.caller, view.r.start_tick);
  call.comm = comm_of(view.r.head.type, view.r.scope, call.start_tick);
  call.window = object_of(log_, view.r.head.type, view.r.scope, call.start_tick);
  add(call);
}

void MpiLoader::take(std::uint16_t lane, const log::MpiRequestsView& view) {
  if (view.of_partitions()) {
    std::vector<std::uint32_t>& list = partitions_[{lane, view.r.tick}].list;
    list.insert(list.end(), view.partitions.begin(), view.partitions.end());
    return;
  }
  CallRequests& requests = requests_[{lane, view.r.tick}];
  if (view.completed()) {
    requests.ended_known = true;
    requests.ended.insert(requests.ended.end(), view.ended.begin(), view.ended.end());
  } else {
    requests.handles.insert(requests.handles.end(), view.handles.begin(), view.handles.end());
  }
}

void MpiLoader::name_requests() {
  if (requests_.empty() && partitions_.empty()) return;
  for (const auto& calls : log_.calls_of_lane) {
    for (const CallIndex index : calls) {
      const MpiCall& call = job_.calls[index];
      const std::pair key(call.lane, call.start_tick);
      if (auto found = requests_.extract(key)) {
        log_.call_requests[index] = std::move(found.mapped());
      }
      if (auto found = partitions_.extract(key)) {
        log_.call_partitions[index] = std::move(found.mapped());
      }
    }
  }
}

namespace {

// As far as the log reaches. A damaged page may have any count.
std::uint64_t newest_tick(const log::ProcessPage& page) {
  const std::size_t count = std::clamp<std::size_t>(page.anchor_count, 1, log::kAnchors);
  return page.anchors[count - 1].tick;
}

}  // namespace

// The call that a lane shows as current, unless its record, or that of a later call, says that it
// is over: its end may have been missed (a longjmp), or happened between the two readings. A call
// that is left out has no start until the recorder's helper sees it: then it began after all that
// the log has a time of.
void MpiLoader::take_open_call(std::uint16_t lane, const log::CurrentCall& current) {
  const log::RecordType type = current.head.type;
  if ((type != log::RecordType::mpi_call && type != log::RecordType::mpi_window_call &&
       type != log::RecordType::mpi_file_call) ||
      function(current.head.a) == kNoText) {
    return;
  }
  const bool is_dated = current.start_tick != 0;
  std::uint64_t start_tick = is_dated ? current.start_tick : newest_tick(log_.file.page());
  if (lane < log_.calls_of_lane.size()) {
    for (const CallIndex index : log_.calls_of_lane[lane]) {
      if (is_dated && calls_[index].start_tick >= start_tick) {
        return;
      }
      if (!is_dated) start_tick = std::max(start_tick, calls_[index].end_tick);
    }
  }
  constexpr std::int32_t kNotReturned = -1;
  MpiCall call;
  call.lane = lane;
  call.function = function(current.head.a);
  call.status = kNotReturned;
  call.on_window = type == log::RecordType::mpi_window_call;
  call.open = true;
  call.start_tick = start_tick;
  call.end_tick = UINT64_MAX;
  call.peer = current.peer;
  call.tag = current.tag;
  call.recv_peer = call.recv_tag = log::MpiCall::kNone;
  call.request = current.request;
  call.stack = callers_.stack_of(current.caller, start_tick);
  call.comm = comm_of(type, current.scope, call.start_tick);
  call.window = object_of(log_, type, current.scope, call.start_tick);
  add(call);
}

// MPI_LOCK_EXCLUSIVE of Open MPI, MPICH and the standard ABI, recorded instead of a tag. None of
// them is MPI_LOCK_SHARED of another: 2, 235, 302.
constexpr std::int32_t kExclusiveLocks[] = {1, 234, 301};

void MpiLoader::take_lock(MpiCall& call) {
  if (texts()[call.function] != "MPI_Win_lock") return;
  call.locks_alone = std::find(std::begin(kExclusiveLocks), std::end(kExclusiveLocks), call.tag) !=
                     std::end(kExclusiveLocks);
  call.tag = log::MpiCall::kNone;
}

// Partition calls, and calls that test a request, have numbers instead of a peer and a tag.
void MpiLoader::take_partitions(MpiCall& call) {
  const std::string& name = texts()[call.function];
  const bool readies = name == "MPI_Pready" || name == "MPI_Pready_range";
  const bool asks_for_one = name == "MPI_Parrived";
  const bool asks = asks_for_one || name == "MPI_Test" || name == "MPI_Request_get_status";
  if (!readies && !asks) return;
  const std::int32_t first = std::exchange(call.peer, log::MpiCall::kNone);
  const std::int32_t second = std::exchange(call.tag, log::MpiCall::kNone);
  if (second == log::MpiCall::kNone) return;
  if (asks) call.answer = second != 0 ? Answer::yes : Answer::no;
  if (readies || asks_for_one) {
    partitions_[{call.lane, call.start_tick}] = {first, readies ? second : first, {}};
  }
}

void MpiLoader::add(MpiCall call) {
  if (call.on_window) take_lock(call);
  if (!call.open) take_partitions(call);
  call.process = process_;
  call.start_ns = log_.clock.job_ns(call.start_tick);
  if (call.lane >= log_.calls_of_lane.size()) {
    log_.calls_of_lane.resize(call.lane + 1u);
  }
  log_.calls_of_lane[call.lane].push_back(calls_.add(call));
}

// The outermost calls of a thread follow each other.
void MpiLoader::count_backward(const std::vector<CallIndex>& calls) {
  for (std::size_t i = 1; i < calls.size(); ++i) {
    log_.backward_calls += calls_[calls[i]].start_tick < calls_[calls[i - 1]].end_tick;
  }
}

void MpiLoader::finish_calls() {
  for (const auto& calls : log_.calls_of_lane) {
    count_backward(calls);
  }
  const std::vector<log::LaneInfo>& lanes = log_.file.lanes();
  for (std::size_t lane = 0; lane < lanes.size(); ++lane) {
    take_open_call(static_cast<std::uint16_t>(lane), lanes[lane].current_call);
  }
  for (auto& calls : log_.calls_of_lane) {
    std::stable_sort(calls.begin(), calls.end(), [&](CallIndex a, CallIndex b) {
      return calls_[a].start_tick < calls_[b].start_tick;
    });
  }
}

void MpiLoader::place_calls(std::size_t first) {
  std::copy(calls_.begin(), calls_.end(), job_.calls.begin() + static_cast<std::ptrdiff_t>(first));
  calls_ = {};
  for (auto& calls : log_.calls_of_lane) {
    for (CallIndex& index : calls) index = CallIndex(first + index.place());
  }
  name_requests();
}

}  // namespace uctrace::merge
