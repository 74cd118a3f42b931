#include "log-merger/library/collectives.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace uctrace::merge {

namespace {

using Calls = std::vector<LibraryCall>;

std::string name_of(log::UccOperation operation) {
  return log::kUccOperationNames[static_cast<std::size_t>(operation)];
}

// Places of calls in the order of their starts, over all threads.
std::vector<std::size_t> by_start(const Calls& calls) {
  std::vector<std::size_t> order(calls.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return calls[a].start_tick < calls[b].start_tick;
  });
  return order;
}

bool is_of(const Job& job, const LibraryCalls& of, const LibraryCall& call, std::string_view name) {
  return job.run.texts[of.function_of(call)] == name;
}

// From the start of a call that starts an operation to that of the next one with its request.
struct InProgress {
  std::uint64_t begin_tick, end_tick;
  std::size_t call;
};

std::vector<InProgress> in_progress(const Job& job, const LibraryCalls& of) {
  std::vector<InProgress> found;
  std::map<LibraryCallIndex, std::size_t> open;  // by the call that began it; into `found`
  for (const std::size_t i : by_start(of.calls)) {
    const LibraryCall& call = of.calls[i];
    if (call.begun_by == kNone) continue;
    const auto known = open.find(call.begun_by);
    if (known != open.end()) {
      found[known->second].end_tick = call.start_tick;
      open.erase(known);
    }
    if (!starts_collective(job, of, call) || call.status < 0) continue;
    open[call.begun_by] = found.size();
    found.push_back({call.start_tick, UINT64_MAX, i});
  }
  return found;
}

// Workers that UCC made for itself: during the creation of a context.
std::set<std::uint64_t> workers_of_contexts(const Job& job, const ProcessLog& log) {
  std::set<std::uint64_t> uids;
  for (const LibraryCall& call : log.library_calls.calls) {
    if (!is_of(job, log.library_calls, call, "ucc_context_create")) continue;
    for (const Worker& worker : log.workers) {
      const bool is_within = worker.tick >= call.start_tick && worker.tick <= call.end_tick;
      if (is_within && worker.uid != 0) uids.insert(worker.uid);
    }
  }
  return uids;
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

bool starts_collective(const Job& job, const LibraryCalls& of, const LibraryCall& call) {
  return is_of(job, of, call, "ucc_collective_post") ||
         is_of(job, of, call, "ucc_collective_triggered_post") ||
         is_of(job, of, call, "ucc_collective_init_and_post");
}

void find_beginnings(LibraryCalls& of) {
  std::map<std::uint64_t, LibraryCallIndex> begun;  // by request
  for (const std::size_t i : by_start(of.calls)) {
    LibraryCall& call = of.calls[i];
    if (call.request == 0) continue;
    if (call.operation) begun[call.request] = LibraryCallIndex(i);
    const auto known = begun.find(call.request);
    if (known != begun.end()) call.begun_by = known->second;
  }
}

void infer_collectives(Job& job, ProcessLog& log) {
  Calls& calls = log.library_calls.calls;
  const std::vector<InProgress> periods = in_progress(job, log.library_calls);
  const std::set<std::uint64_t> workers =
      periods.empty() ? std::set<std::uint64_t>{} : workers_of_contexts(job, log);
  if (workers.empty()) return;
  std::vector<std::size_t> operations;
  for (std::size_t i = log.ucp_rows.begin; i < log.ucp_rows.end; ++i) {
    const UcpOp& op = job.ucp[i];
    const bool is_in_progress = !op.tool && op.library_call == kNone && op.arrival == 0 &&
                                !op.is(log::UcpFamily::am_receive);
    if (is_in_progress && workers.contains(op.worker_uid)) operations.push_back(i);
  }
  std::stable_sort(operations.begin(), operations.end(), [&](std::size_t a, std::size_t b) {
    return job.ucp[a].start_tick < job.ucp[b].start_tick;
  });
  std::multimap<std::uint64_t, std::size_t> open;  // calls by the end of their period
  std::size_t next = 0;
  for (const std::size_t i : operations) {
    UcpOp& op = job.ucp[i];
    for (; next < periods.size() && periods[next].begin_tick <= op.start_tick; ++next) {
      open.emplace(periods[next].end_tick, periods[next].call);
    }
    open.erase(open.begin(), open.upper_bound(op.start_tick));
    if (open.size() != 1) continue;
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
