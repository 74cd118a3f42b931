#include "log-merger/mpi/request_table.hpp"

#include <algorithm>

#include "log-merger/model/mpi_names.hpp"

namespace uctrace::merge {

namespace {

RequestUse use_of(const MpiName& name) {
  constexpr std::string_view kMakers[] = {
      "comm_idup", "comm_idup_with_info", "mprobe",          "rput",
      "rget",      "raccumulate",         "rget_accumulate", "grequest_start"};
  if (name.nonblocking || name.persistent || name.base.starts_with("file_i") ||
      std::find(std::begin(kMakers), std::end(kMakers), name.base) != std::end(kMakers)) {
    return RequestUse::makes;
  }
  if (name.base == "start" || name.base == "startall" || name.base.starts_with("pready")) {
    return RequestUse::starts;
  }
  if (name.base == "mrecv" || name.base == "request_free") return RequestUse::frees;
  if (name.base == "cancel") return RequestUse::names;
  const bool waits = name.base.starts_with("wait") || name.base.starts_with("test") ||
                     name.base == "request_get_status" || name.base == "parrived";
  return waits ? RequestUse::waits : RequestUse::none;
}

}  // namespace

const RequestUses::Known& RequestUses::of(const MpiCall& call) {
  const auto [place, fresh] = known_.try_emplace(call.function);
  if (fresh) {
    const MpiName name = parse_mpi_name(job_.run.texts[call.function]);
    place->second = {use_of(name), name.persistent, name.base == "test"};
  }
  return place->second;
}

RequestUse RequestUses::operator()(const MpiCall& call) { return of(call).use; }

bool RequestUses::makes_persistent(const MpiCall& call) { return of(call).persistent; }

bool RequestUses::is_single_test(const MpiCall& call) { return of(call).single_test; }

bool readies_partitions(const Job& job, const MpiCall& call) {
  return job.run.texts[call.function].starts_with("MPI_Pready");
}

RequestTable::RequestTable(const Job& job, const ProcessLog& log, RequestUses& uses)
    : job_(job), log_(log) {
  Events events = find_events(uses);
  sort_by_handle(made_);
  sort_by_handle(started_);
  std::stable_sort(events.all.begin(), events.all.end(), [](const Event& a, const Event& b) {
    return a.tick != b.tick ? a.tick < b.tick : a.makes > b.makes;
  });
  find_shared_handles(events, uses);
  if (!shared_.empty()) follow_shared_handles(events);
}

RequestTable::Events RequestTable::find_events(RequestUses& uses) {
  Events events;
  for (const auto& calls : log_.calls_of_lane) {
    for (const CallIndex index : calls) {
      const MpiCall& c = call(index);
      const RequestUse use = uses(c);
      add(index, use);
      const bool makes = use == RequestUse::makes && c.request != 0 && !c.open;
      const auto first = static_cast<std::uint32_t>(events.handles.size());
      if (makes) {
        events.handles.push_back(c.request);
      } else if (use == RequestUse::waits || use == RequestUse::frees) {
        add_ended_by(index, use, events.handles);
      }
      const auto count = static_cast<std::uint32_t>(events.handles.size()) - first;
      if (count == 0) continue;
      events.all.push_back({makes ? c.end_tick : c.start_tick, index, makes, first, count});
    }
  }
  return events;
}

void RequestTable::add(CallIndex index, RequestUse use) {
  const MpiCall& c = call(index);
  if (use == RequestUse::makes && c.request != 0 && !c.open) {
    made_.push_back({c.request, c.end_tick, index});
  } else if (use == RequestUse::starts) {
    for (const std::uint64_t handle : given(index)) {
      started_.push_back({handle, c.start_tick, index});
    }
  }
}

void RequestTable::add_ended_by(CallIndex index, RequestUse use, Handles& handles) const {
  if (call(index).answer == Answer::no) return;
  if (use == RequestUse::frees) return add_given(index, handles);
  const std::string& name = job_.run.texts[call(index).function];
  const bool is_of_one = name == "MPI_Wait" || name == "MPI_Test";
  if (use == RequestUse::waits && !is_of_one && !log_.call_requests.contains(index)) {
    return;  // an unsuccessful poll, or one that ends nothing
  }
  add_waited_for(index, handles);
}

std::vector<std::uint64_t> RequestTable::ended_by(CallIndex index, RequestUse use) const {
  Handles handles;
  add_ended_by(index, use, handles);
  return handles;
}

// A request ends once. A handle that ends again without being made again stands for several; so
// does one that a call gets twice.
void RequestTable::find_shared_handles(const Events& events, RequestUses& uses) {
  enum class State : std::uint8_t { made, persistent, ended };
  std::unordered_map<std::uint64_t, State> states;
  for (const Event& event : events.all) {
    const bool is_test = uses.is_single_test(call(event.call));
    for (const std::uint64_t handle : events.handles_of(event)) {
      if (handle == 0) continue;
      if (event.makes) {
        states[handle] = uses.makes_persistent(call(event.call)) ? State::persistent : State::made;
        continue;
      }
      const auto state = states.find(handle);
      if (state == states.end() || state->second == State::persistent) continue;
      if (state->second == State::ended && !is_test) shared_.insert(handle);
      if (!is_test) state->second = State::ended;
    }
  }
}

// Takes `count` ended requests from the open ones of a handle, which are distinguished only by
// their communicators.
std::vector<CallIndex> RequestTable::take(std::vector<CallIndex>& open, std::size_t count) const {
  std::vector<CallIndex> taken;
  if (count >= open.size()) {
    taken.swap(open);
    taken.resize(count, kNone);
    return taken;
  }
  const bool agree = std::all_of(open.begin(), open.end(), [&](CallIndex maker) {
    return maker != kNone && open.front() != kNone && call(maker).comm == call(open.front()).comm;
  });
  const auto end = open.begin() + static_cast<std::ptrdiff_t>(count);
  if (agree) {
    taken.assign(open.begin(), end);
  } else {
    taken.assign(count, kNone);
  }
  open.erase(open.begin(), end);
  if (!agree) std::fill(open.begin(), open.end(), kNone);
  return taken;
}

void RequestTable::follow_shared_handles(const Events& events) {
  std::unordered_map<std::uint64_t, std::vector<CallIndex>> open;
  for (const Event& event : events.all) {
    std::unordered_map<std::uint64_t, std::size_t> ended;
    for (const std::uint64_t handle : events.handles_of(event)) {
      if (!shared_.contains(handle)) continue;
      if (event.makes) {
        open[handle].push_back(event.call);
      } else {
        ++ended[handle];
      }
    }
    for (const auto& [handle, count] : ended) {
      of_shared_[event.call][handle] = take(open[handle], count);
    }
  }
}

void RequestTable::add_given(CallIndex index, Handles& handles) const {
  const auto several = log_.call_requests.find(index);
  if (several != log_.call_requests.end()) {
    const Handles& all = several->second.handles;
    handles.insert(handles.end(), all.begin(), all.end());
  } else if (call(index).request != 0) {
    handles.push_back(call(index).request);
  }
}

void RequestTable::add_waited_for(CallIndex index, Handles& handles) const {
  const auto several = log_.call_requests.find(index);
  if (several == log_.call_requests.end()) return add_given(index, handles);
  const CallRequests& requests = several->second;
  // If not recorded: for a call that ends one of several, the one that ended; else all of them.
  if (!requests.ended_known && call(index).request != 0) {
    return handles.push_back(call(index).request);
  }
  const std::size_t before = handles.size();
  for (const std::uint32_t position : requests.ended) {
    if (requests.ended_known && position < requests.handles.size()) {
      handles.push_back(requests.handles[position]);
    }
  }
  if (handles.size() == before) add_given(index, handles);
}

std::vector<std::uint64_t> RequestTable::given(CallIndex index) const {
  Handles handles;
  add_given(index, handles);
  return handles;
}

std::vector<std::uint64_t> RequestTable::waited_for(CallIndex index) const {
  Handles handles;
  add_waited_for(index, handles);
  return handles;
}

CallIndex RequestTable::at(const Rows<HandleUse>& uses, std::uint64_t handle, std::uint64_t tick) {
  const auto row = row_at(uses, handle, tick);
  return row == kNone ? kNone : uses[row].call;
}

std::vector<CallIndex> RequestTable::makers(CallIndex index,
                                            const std::vector<std::uint64_t>& handles) const {
  std::vector<CallIndex> found;
  std::unordered_map<std::uint64_t, std::size_t> used;
  const auto of_call = of_shared_.find(index);
  for (const std::uint64_t handle : handles) {
    if (handle == 0) continue;
    if (!shared_.contains(handle)) {
      found.push_back(at(made_, handle, call(index).start_tick));
      continue;
    }
    const std::vector<CallIndex>* all = nullptr;
    if (of_call != of_shared_.end()) {
      const auto of_handle = of_call->second.find(handle);
      if (of_handle != of_call->second.end()) all = &of_handle->second;
    }
    const std::size_t next = used[handle]++;
    found.push_back(all != nullptr && next < all->size() ? (*all)[next] : kNone);
  }
  return found;
}

CallIndex RequestTable::starter(CallIndex maker, std::uint64_t tick) const {
  if (maker == kNone) return kNone;
  const CallIndex start = at(started_, call(maker).request, tick);
  const bool is_of_it = start != kNone && call(start).start_tick >= call(maker).end_tick;
  return is_of_it ? start : kNone;
}

}  // namespace uctrace::merge
