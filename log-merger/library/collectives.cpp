#include "log-merger/library/collectives.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "log-merger/job/gaps.hpp"
#include "log-merger/job/operation_worker.hpp"

namespace uctrace::merge {

namespace {

using Calls = std::vector<LibraryCall>;

std::string name_of(log::UccOperation operation) {
  return log::kUccOperationNames[static_cast<std::size_t>(operation)];
}

// A request is its maker's once the call has returned; others end it as they are called.
std::uint64_t effect_tick(const LibraryCall& call) {
  return call.ucc == UccCall::begins ? call.end_tick : call.start_tick;
}

// Places of calls in the order in which they take effect, over all threads.
std::vector<std::size_t> by_effect(const Calls& calls) {
  std::vector<std::size_t> order(calls.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return effect_tick(calls[a]) < effect_tick(calls[b]);
  });
  return order;
}

UccCall kind_of(std::string_view function) {
  if (function == "ucc_context_create") return UccCall::makes_context;
  if (function == "ucc_team_create_post") return UccCall::makes_team;
  if (function == "ucc_team_create_from_parent") return UccCall::makes_team;
  if (function == "ucc_collective_init") return UccCall::begins;
  if (function == "ucc_collective_post") return UccCall::starts;
  if (function == "ucc_collective_triggered_post") return UccCall::starts;
  if (function == "ucc_collective_finalize") return UccCall::ends;
  return UccCall::other;
}

// Whether the process may have made calls in between that have no record.
bool may_lack_calls(const ProcessLog& log, std::uint64_t after, std::uint64_t before) {
  return log.dropped(log::DropKind::mpi) != 0 || has_gap_between(log.recorded, after, before);
}

constexpr std::size_t kNoCall = SIZE_MAX;

// While a collective operation is in progress: from the start of the call that starts it to that of
// the next one with its request. Or while something else makes UCC post operations: kNoCall.
struct InProgress {
  std::uint64_t begin_tick, end_tick;
  std::size_t call;
};

// By their begin.
std::vector<InProgress> in_progress(const Calls& calls) {
  std::vector<InProgress> found;
  std::map<std::uint64_t, std::size_t> started, making;  // by request, by lane; into `found`
  const auto close = [&](auto& open, std::uint64_t key, std::uint64_t tick) {
    const auto known = open.find(key);
    if (known == open.end()) return;
    found[known->second].end_tick = tick;
    open.erase(known);
  };
  for (const std::size_t i : by_effect(calls)) {
    const LibraryCall& call = calls[i];
    const std::uint64_t tick = effect_tick(call);
    if (call.request != 0) close(started, call.request, tick);
    // That a team is made is polled. A thread that goes on with other calls has seen it.
    close(making, call.lane, call.start_tick);
    if (call.status < 0) continue;
    if (call.ucc == UccCall::starts) {
      started[call.request] = found.size();
      found.push_back({tick, UINT64_MAX, call.begun_by != kNone ? i : kNoCall});
    } else if (call.ucc == UccCall::makes_team) {
      making[call.lane] = found.size();
      found.push_back({tick, UINT64_MAX, kNoCall});
    }
  }
  return found;
}

// Workers that UCC made for itself: on the thread that creates a context, meanwhile.
std::set<IndexOf<Worker>> workers_of_contexts(const ProcessLog& log) {
  std::set<IndexOf<Worker>> found;
  for (const LibraryCall& call : log.library_calls.calls) {
    if (call.ucc != UccCall::makes_context) continue;
    for (const IndexOf<Worker> at : log.workers.indexes()) {
      const Worker& worker = log.workers[at];
      const bool is_within = worker.lane == call.lane && worker.tick >= call.start_tick &&
                             worker.tick <= call.end_tick;
      if (is_within) found.insert(at);
    }
  }
  return found;
}

// "libucc_tl_ucp.so.1.0.0" -> "tl_ucp"; "" if it is no layer of UCC.
std::string layer_of(std::string_view module) {
  constexpr std::string_view kPrefix = "libucc_";
  const std::string_view file = module.substr(module.rfind('/') + 1);
  if (!file.starts_with(kPrefix)) return "";
  const std::string_view name = file.substr(kPrefix.size(), file.find(".so") - kPrefix.size());
  const bool is_layer = name.starts_with("tl_") || name.starts_with("cl_");
  return is_layer ? std::string(name) : "";
}

// "ucc_tl_ucp_allreduce_knomial_init" of an allreduce -> "knomial". What a layer makes of another
// operation keeps its name: "reduce_scatter_knomial". "default": the layer's only one, or its
// choice.
std::string algorithm_of(std::string_view function, const std::string& layer,
                         const std::string& operation) {
  const std::string prefix = "ucc_" + layer + "_";
  if (!function.starts_with(prefix)) return "";
  std::string_view rest = function.substr(prefix.size());
  rest = rest.substr(0, rest.rfind("_init"));
  if (rest == "coll" || rest == operation) return "default";
  const bool says_operation = rest.starts_with(operation + "_");
  return std::string(says_operation ? rest.substr(operation.size() + 1) : rest);
}

void add_once(std::string& list, const std::string& item) {
  if (item.empty() || (", " + list + ", ").find(", " + item + ", ") != std::string::npos) return;
  list += list.empty() ? item : ", " + item;
}

// The function of a stack of one address: inlined ones come before it.
const CodeFrame* code_of(const Run& run, const ProcessLog& log, std::uint32_t stack) {
  const auto known = log.stack_rows.find(stack);
  if (stack == 0 || known == log.stack_rows.end()) return nullptr;
  const CallStack& row = run.stacks[static_cast<std::size_t>(known->second.number())];
  if (row.frames == 0) return nullptr;
  return &run.frames[run.stack_frames[row.first_frame + row.frames - 1].frame];
}

struct Making {
  std::string layers, algorithms;
};

Making making_of(const Run& run, const ProcessLog& log, const LibraryCall& begun) {
  Making making;
  for (const std::uint32_t maker : begun.makers) {
    const CodeFrame* code = code_of(run, log, maker);
    const std::string layer = code != nullptr ? layer_of(run.texts[code->module]) : "";
    if (layer.empty()) continue;
    add_once(making.layers, layer);
    add_once(making.algorithms,
             algorithm_of(run.texts[code->function], layer, name_of(*begun.operation)));
  }
  return making;
}

}  // namespace

void find_beginnings(const Job& job, ProcessLog& log) {
  LibraryCalls& of = log.library_calls;
  std::map<std::uint16_t, UccCall> kinds;  // by function
  for (const auto& [number, name] : of.functions) {
    const UccCall kind = kind_of(job.run.texts[name]);
    if (kind != UccCall::other) kinds[static_cast<std::uint16_t>(number)] = kind;
  }
  if (kinds.empty()) return;
  for (LibraryCall& call : of.calls) {
    if (const auto kind = kinds.find(call.function); kind != kinds.end()) call.ucc = kind->second;
  }
  std::map<std::uint64_t, LibraryCallIndex> begun;  // by request
  for (const std::size_t i : by_effect(of.calls)) {
    LibraryCall& call = of.calls[i];
    if (call.request == 0) continue;
    if (call.ucc == UccCall::begins) begun[call.request] = LibraryCallIndex(i);
    const auto known = begun.find(call.request);
    if (known == begun.end()) continue;
    const LibraryCall& beginning = of.calls[known->second.place()];
    if (may_lack_calls(log, beginning.end_tick, call.start_tick)) continue;
    call.begun_by = known->second;
    if (call.ucc == UccCall::ends && call.status >= 0) begun.erase(known);
  }
}

void infer_collectives(Job& job, ProcessLog& log) {
  Calls& calls = log.library_calls.calls;
  const bool uses_ucc = std::any_of(calls.begin(), calls.end(), [](const LibraryCall& call) {
    return call.ucc == UccCall::starts;
  });
  if (!uses_ucc || !log.is_whole()) return;
  const std::set<IndexOf<Worker>> workers = workers_of_contexts(log);
  std::vector<std::size_t> operations;
  for (std::size_t i = log.ucp_rows.begin; i < log.ucp_rows.end; ++i) {
    const UcpOp& op = job.ucp[i];
    const bool is_in_progress = !op.tool && op.library_call == kNone && op.arrival == 0 &&
                                !op.is(log::UcpFamily::am_receive);
    if (is_in_progress && workers.contains(worker_of(log, op))) operations.push_back(i);
  }
  std::stable_sort(operations.begin(), operations.end(), [&](std::size_t a, std::size_t b) {
    return job.ucp[a].start_tick < job.ucp[b].start_tick;
  });
  const std::vector<InProgress> periods = in_progress(calls);
  std::multimap<std::uint64_t, std::size_t> open;  // calls by the end of their period
  std::size_t next = 0;
  for (const std::size_t i : operations) {
    UcpOp& op = job.ucp[i];
    for (; next < periods.size() && periods[next].begin_tick <= op.start_tick; ++next) {
      open.emplace(periods[next].end_tick, periods[next].call);
    }
    open.erase(open.begin(), open.upper_bound(op.start_tick));
    if (open.size() != 1 || open.begin()->second == kNoCall) continue;
    op.library_call = LibraryCallIndex(open.begin()->second);
    op.library_inferred = true;
    LibraryCall& call = calls[open.begin()->second];
    ++call.inferred_operations;
    if (op.starts_message()) call.inferred_bytes += op.bytes;
  }
}

void name_collectives(Job& job) {
  Texts& texts = job.run.texts;
  for (ProcessLog& log : job.logs) {
    for (LibraryCall& call : log.library_calls.calls) {
      if (!call.operation) continue;
      const Making making = making_of(job.run, log, call);
      call.collective = texts.intern(name_of(*call.operation));
      call.layers = texts.intern(making.layers);
      call.algorithm = texts.intern(making.algorithms);
    }
  }
}

}  // namespace uctrace::merge
