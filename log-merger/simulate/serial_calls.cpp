#include "log-merger/simulate/serial_calls.hpp"

#include <map>
#include <string>
#include <tuple>
#include <unordered_map>

#include "log-merger/model/mpi_names.hpp"

namespace uctrace {

namespace {

constexpr std::int32_t kSeveral = -1, kNone = -2;

// The only thread that does something, or kSeveral.
struct Caller {
  std::int32_t lane = kNone;

  void add(std::int32_t other) {
    if (lane == kNone) lane = other;
    if (lane != other) lane = kSeveral;
  }
};

std::vector<Caller> callers_of_processes(const std::vector<replay::Call>& calls,
                                         std::size_t processes) {
  std::vector<Caller> callers(processes);
  for (const replay::Call& call : calls) callers[call.process].add(call.lane);
  return callers;
}

// By process, the lane that called MPI_Init; if not recorded, the first one with a call.
std::vector<std::int32_t> main_lanes(const std::vector<replay::Call>& calls,
                                     std::size_t processes) {
  struct First {
    bool is_start = false;
    std::int64_t ns = INT64_MAX;
    std::int32_t lane = kNone;
  };
  std::vector<First> firsts(processes);
  for (const replay::Call& call : calls) {
    if (call.start_ns < 0) continue;
    First& first = firsts[call.process];
    const bool is_start = call.part == replay::Part::start_of_mpi;
    if (std::tuple(!is_start, call.start_ns) < std::tuple(!first.is_start, first.ns)) {
      first = {is_start, call.start_ns, call.lane};
    }
  }
  std::vector<std::int32_t> lanes;
  for (const First& first : firsts) lanes.push_back(first.lane);
  return lanes;
}

class SerialCalls {
 public:
  SerialCalls(const RowSource& source, RecordedCalls& recorded, std::vector<bool> several)
      : source_(source),
        recorded_(recorded),
        several_(std::move(several)),
        main_lanes_(main_lanes(recorded.calls, several_.size())) {}

  Threads mark() {
    for (std::size_t i = 0; i < recorded_.calls.size(); ++i) {
      const replay::Call& call = recorded_.calls[i];
      if (several_[call.process]) at_places_[place_of(i)].add(call.lane);
    }
    Threads threads{several_, 0, 0};
    for (std::size_t i = 0; i < recorded_.calls.size(); ++i) {
      replay::Call& call = recorded_.calls[i];
      if (!several_[call.process]) continue;
      const Caller caller = at_places_.at(place_of(i));
      call.serial = call.part != replay::Part::of_run ||
                    (caller.lane == call.lane && call.lane == main_lanes_[call.process]);
      ++threads.calls;
    }
    mark_collectives();
    for (const replay::Call& call : recorded_.calls) threads.serial += call.serial ? 1 : 0;
    return threads;
  }

 private:
  using Place = std::tuple<std::uint32_t, TextId, std::int32_t>;  // process, function, call site

  Place place_of(std::size_t call) const {
    return {recorded_.calls[call].process, recorded_.functions[call], recorded_.call_sites[call]};
  }

  bool is_collective(TextId function) {
    const auto [known, fresh] = is_collective_.try_emplace(function, false);
    if (fresh) {
      known->second = parse_mpi_name(source_.run().texts[function]).kind == MpiKind::collective;
    }
    return known->second;
  }

  void mark_collectives() {
    struct Collective {
      std::size_t call;
      std::pair<std::uint32_t, std::int32_t> over;  // process and communicator
    };
    std::vector<Collective> collectives;
    std::map<std::pair<std::uint32_t, std::int32_t>, Caller> callers;
    const Wanted<MpiCallRow> wanted = {&MpiCallRow::communicator};
    for_each_row(source_, wanted, [&](const MpiCallRow& row, std::size_t number) {
      const replay::Call& call = recorded_.calls[number];
      if (!several_[call.process] || row.communicator < 0) return;
      if (!is_collective(recorded_.functions[number])) return;
      collectives.push_back({number, {call.process, row.communicator}});
      callers[collectives.back().over].add(call.lane);
    });
    for (const Collective& one : collectives) {
      if (callers[one.over].lane == kSeveral) recorded_.calls[one.call].serial = true;
    }
  }

  const RowSource& source_;
  RecordedCalls& recorded_;
  std::vector<bool> several_;             // by process: several threads call MPI
  std::vector<std::int32_t> main_lanes_;  // by process
  std::map<Place, Caller> at_places_;
  std::unordered_map<TextId, bool> is_collective_;
};

}  // namespace

Threads mark_serial_calls(const RowSource& source, RecordedCalls& recorded) {
  const std::size_t processes = source.run().processes.size();
  std::vector<bool> several(processes, false);
  bool any = false;
  const std::vector<Caller> callers = callers_of_processes(recorded.calls, processes);
  for (std::size_t i = 0; i < processes; ++i) any |= several[i] = callers[i].lane == kSeveral;
  if (!any) return {several, 0, 0};
  return SerialCalls(source, recorded, several).mark();
}

}  // namespace uctrace
