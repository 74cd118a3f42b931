#include "log-merger/mpi/open_calls.hpp"

#include <algorithm>

namespace uctrace::merge {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kNamedReceives = 8;  // of a process

const ProcessLog& log_of(const Job& job, ProcessIndex process) { return job.logs[process]; }

Json receive_json(const Job& job, const UcpOp& receive) {
  Json json = {
      {"mpi", nullptr},         {"comm", or_null(comm_name(job, receive.process, receive.comm))},
      {"peer", nullptr},        {"tag", nullptr},
      {"bytes", receive.bytes}, {"since_ns", receive.start_ns}};
  if (receive.asked_by != kNone) {
    const MpiCall& call = job.calls[receive.asked_by];
    const bool both = call.recv_peer != log::MpiCall::kNone;
    json["mpi"] = or_null(job.run.texts[call.function]);
    json["peer"] = number_or_any(world_rank(job, call, both ? call.recv_peer : call.peer));
    json["tag"] = number_or_any(both ? call.recv_tag : call.tag);
  }
  return json;
}

}  // namespace

std::int64_t last_instant(const ProcessLog& log) {
  return log.clock.anchors().empty() ? -1 : log.clock.job_ns(log.clock.anchors().back().tick);
}

std::string comm_name(const Job& job, ProcessIndex process, CommIndex comm) {
  return comm == kNone ? std::string() : job.run.texts[log_of(job, process).comms[comm].name];
}

std::string call_site(const Job& job, const MpiCall& call) {
  const auto& rows = log_of(job, call.process).stack_rows;
  const auto row = rows.find(call.stack);
  return row == rows.end() ? "" : job.run.texts[call_site_of(job.run, row->second.number())];
}

Json or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json number_or_any(std::int32_t value) {
  if (value == log::MpiCall::kAny) return "any";
  return value < 0 ? Json(nullptr) : Json(value);
}

ByIndex<ProcessLog, Open> find_open(const Job& job) {
  ByIndex<ProcessLog, Open> open(job.logs.size());
  for (const MpiCall& call : job.calls) {
    Open& of_process = open[call.process];
    if (call.open) {
      of_process.calls.push_back(&call);
    } else {
      of_process.last_return_ns = std::max(of_process.last_return_ns, call.end_ns);
    }
  }
  for (const UcpOp& op : job.ucp) {
    if (op.is(log::UcpFamily::tag_receive) && op.accepted() && !op.ended && !op.tool) {
      open[op.process].receives.push_back(&op);
    }
  }
  for (Open& of_process : open) {
    std::stable_sort(of_process.receives.begin(), of_process.receives.end(),
                     [](const UcpOp* a, const UcpOp* b) { return a->start_ns < b->start_ns; });
  }
  return open;
}

Json in_calls_json(const Job& job, const Open& open) {
  Json list = Json::array();
  for (const MpiCall* call : open.calls) {
    const ProcessLog& log = log_of(job, call->process);
    list.push_back({{"mpi", job.run.texts[call->function]},
                    {"call_site", or_null(call_site(job, *call))},
                    {"comm", or_null(comm_name(job, call->process, call->comm))},
                    {"peer", number_or_any(world_rank(job, *call, call->peer))},
                    {"tag", number_or_any(call->tag)},
                    {"thread", log.file.lanes()[call->lane].tid},
                    {"since_ns", call->start_ns},
                    {"for_ns", std::max<std::int64_t>(0, last_instant(log) - call->start_ns)}});
  }
  return list;
}

Json open_receives_json(const Job& job, const Open& open) {
  Json oldest = Json::array();
  for (std::size_t i = 0; i < std::min(kNamedReceives, open.receives.size()); ++i) {
    oldest.push_back(receive_json(job, *open.receives[i]));
  }
  return {{"count", open.receives.size()}, {"oldest", std::move(oldest)}};
}

}  // namespace uctrace::merge
