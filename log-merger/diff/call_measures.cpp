// Calls of MPI, the work between them, and waits, as `uctrace diff` compares them.
#include <deque>
#include <map>
#include <set>

#include "log-merger/diff/measures_parts.hpp"
#include "log-merger/model/mpi_names.hpp"
#include "log-merger/model/size_class.hpp"
#include "log-merger/summaries/filter.hpp"
#include "log-merger/summaries/numbers.hpp"

namespace uctrace::diff {
namespace {

// Calls that are alike: by one process, from one place, in one class of sizes. The work of the
// process before each of them, since its last call, is alike, too.
struct CallKind {
  std::uint32_t process = 0;
  std::int32_t call_site = -1;
  TextId function = kNoText;
  std::uint64_t calls = 0, bytes = 0;  // bytes: by the arguments, of both directions
  Spread in_call, before;
};

// The number of these calls depends on time, not on the program's work.
bool polls(const std::string& function) {
  static const std::set<std::string> kPolling = {
      "MPI_Test",    "MPI_Testall",  "MPI_Testany",  "MPI_Testsome",          "MPI_Iprobe",
      "MPI_Improbe", "MPI_Parrived", "MPI_Win_test", "MPI_Request_get_status"};
  return kPolling.contains(function);
}

class CallKinds {
 public:
  explicit CallKinds(const Run& run) : run_(run) {}

  void add(const MpiCallRow& call) {
    const std::int32_t site = call_site_at(run_, call.stack);
    const auto key = summaries::key_of(call.process, site, call.function,
                                       size_class(std::max(call.bytes, call.recv_bytes)));
    const auto [number, fresh] = numbers_.of(key);
    if (fresh) kinds_.push_back({call.process, site, call.function, 0, 0, {}, {}});
    CallKind& kind = kinds_[number];
    ++kind.calls;
    kind.bytes += call.bytes + call.recv_bytes;
    if (call.t_start_ns < 0 || call.t_end_ns < call.t_start_ns) return;
    kind.in_call.add(static_cast<std::uint64_t>(call.t_end_ns - call.t_start_ns));
    const std::uint64_t thread = std::uint64_t{call.process} << 32 | call.lane;
    const auto [last_end, first] = last_ends_.try_emplace(thread, call.t_end_ns);
    if (first) return;
    if (call.t_start_ns >= last_end->second) {
      kind.before.add(static_cast<std::uint64_t>(call.t_start_ns - last_end->second));
    }
    last_end->second = std::max(last_end->second, call.t_end_ns);
  }

  const std::deque<CallKind>& all() const { return kinds_; }

 private:
  const Run& run_;
  summaries::Numbers<summaries::Key<4>> numbers_;
  std::deque<CallKind> kinds_;
  std::map<std::uint64_t, std::int64_t> last_ends_;  // by process and lane
};

std::string place_of(const Run& run, const CallKind& kind) {
  const std::string& function = run.texts[kind.function];
  if (kind.call_site < 0) return function;
  const CallSite& site = run.call_sites[static_cast<std::size_t>(kind.call_site)];
  return function + " at " + run.texts[site.label];
}

}  // namespace

void add_calls(const RowSource& source, RunMeasures& measures) {
  const Run& run = source.run();
  const Labels labels(run);
  CallKinds kinds(run);
  using C = MpiCallRow;
  for_each_row<C>(source,
                  {&C::process, &C::lane, &C::function, &C::stack, &C::bytes, &C::recv_bytes,
                   &C::t_start_ns, &C::t_end_ns},
                  [&](const C& call, std::size_t) { kinds.add(call); });
  measures.has_calls = !kinds.all().empty();
  for (const CallKind& kind : kinds.all()) {
    const std::string& function = run.texts[kind.function];
    Band in_call, before;
    in_call.add(kind.in_call);
    before.add(kind.before);
    const std::string rank = labels.of_processes()[kind.process];
    add_time(measures, {"function", function, "time in it"}, Whole::time, in_call);
    if (!starts_or_ends_mpi(function)) {
      add_time(measures, {"rank", rank, "time in MPI"}, Whole::time, in_call);
      add_time(measures, {"all ranks", "", "time in MPI"}, Whole::time, in_call);
    }
    if (kind.call_site >= 0) {
      add_time(measures, {"call site", place_of(run, kind), "time in it"}, Whole::time, in_call);
    }
    add_time(measures, {"rank", rank, "time outside MPI"}, Whole::time, before);
    add_time(measures, {"all ranks", "", "time outside MPI"}, Whole::time, before);
    add_time(measures, {"call site", place_of(run, kind), "work before it"}, Whole::time, before);
    whole_of(measures, Whole::time) += in_call.value_ns + before.value_ns;
    if (kind.call_site >= 0 && kind.bytes > 0) {
      add_count(measures, {"call site", place_of(run, kind), "bytes of its arguments"},
                Whole::asked, kind.bytes);
    }
    whole_of(measures, Whole::asked) += static_cast<double>(kind.bytes);
    whole_of(measures, Whole::calls) += static_cast<double>(kind.calls);
    if (!polls(function)) {
      add_count(measures, {"function", function, "calls"}, Whole::calls, kind.calls);
    }
  }
}

void add_waits(const RowSource& source, RunMeasures& measures) {
  const Run& run = source.run();
  const Labels labels(run);
  // By kind, waiting rank, and the rank waited for.
  std::map<std::tuple<WaitKind, std::uint32_t, std::int32_t>, Spread> kinds;
  using W = Wait;
  for_each_row<W>(source, {&W::kind, &W::process, &W::cause_process, &W::ns},
                  [&](const W& wait, std::size_t) {
                    if (wait.ns <= 0 || !is_in_totals(wait.kind)) return;
                    kinds[{wait.kind, wait.process, wait.cause_process}].add(
                        static_cast<std::uint64_t>(wait.ns));
                  });
  for (const auto& [key, spread] : kinds) {
    const auto& [kind, process, cause] = key;
    Band band;
    band.add(spread);
    add_time(measures, {"wait", name_of(kind), "waiting"}, Whole::time, band);
    add_time(measures, {"rank", labels.of_processes()[process], "waiting"}, Whole::time, band);
    add_time(measures, {"all ranks", "", "waiting"}, Whole::time, band);
    if (cause < 0) continue;
    add_time(
        measures,
        {"rank", labels.of_processes()[static_cast<std::size_t>(cause)], "others waited for it"},
        Whole::time, band);
  }
}

}  // namespace uctrace::diff
