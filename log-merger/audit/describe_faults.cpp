#include "log-merger/audit/describe_faults.hpp"

#include <nlohmann/json.hpp>

#include "event-log/reader/plain_text.hpp"

namespace uctrace::merge {

using Json = nlohmann::ordered_json;

const char* name_of(log::FaultCode code) {
  switch (code) {
    case log::FaultCode::none:
      return "none";
    case log::FaultCode::unknown_ucx_version:
      return "unknown_ucx_version";
    case log::FaultCode::self_check_failed:
      return "self_check_failed";
    case log::FaultCode::symbol_missing:
      return "symbol_missing";
    case log::FaultCode::out_of_interfaces:
      return "out_of_interfaces";
    case log::FaultCode::unknown_mpi_library:
      return "unknown_mpi_library";
    case log::FaultCode::request_field_unknown:
      return "request_field_unknown";
    case log::FaultCode::out_of_handlers:
      return "out_of_handlers";
    case log::FaultCode::left_out:
      return "left_out";
    case log::FaultCode::other_ucx_loaded:
      return "other_ucx_loaded";
    case log::FaultCode::unknown_patch:
      return "unknown_patch";
    case log::FaultCode::several_ucx:
      return "several_ucx";
    case log::FaultCode::ucp_bypassed:
      return "ucp_bypassed";
    case log::FaultCode::signal_taken:
      return "signal_taken";
    case log::FaultCode::unknown_condition:
      return "unknown_condition";
    case log::FaultCode::clock_not_measured:
      return "clock_not_measured";
    case log::FaultCode::gpu_driver_unusable:
      return "gpu_driver_unusable";
    case log::FaultCode::gpu_query_failed:
      return "gpu_query_failed";
    case log::FaultCode::gpu_events_refused:
      return "gpu_events_refused";
    case log::FaultCode::gpu_history_refused:
      return "gpu_history_refused";
    case log::FaultCode::topology_not_taken:
      return "topology_not_taken";
    case log::FaultCode::mpi_bypassed:
      return "mpi_bypassed";
    case log::FaultCode::uct_bypassed:
      return "uct_bypassed";
    case log::FaultCode::counters_not_kept:
      return "counters_not_kept";
    case log::FaultCode::profile_not_written:
      return "profile_not_written";
    case log::FaultCode::kCount:
      break;
  }
  return "unknown";
}

Json faults_json(const Job& job) {
  Json list = Json::array();
  for (const ProcessLog& log : job.logs) {
    for (const auto& [fault, detail] : log.faults) {
      list.push_back({{"process", plain_text(log.file.process_key())},
                      {"layer", kLayerNames[static_cast<std::size_t>(fault.layer)]},
                      {"fault", name_of(static_cast<log::FaultCode>(fault.head.a))},
                      {"value", fault.value},
                      {"detail", detail}});
    }
  }
  return list;
}

}  // namespace uctrace::merge
