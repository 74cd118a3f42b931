#include "cli/data-folder/definitions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "event-log/reader/error.hpp"
#include "event-log/reader/reader.hpp"
#include "log-merger/model/faults.hpp"

namespace uctrace::cli {
namespace {

bool switches_off(log::FaultCode code) {
  return code != log::FaultCode::left_out && !loses_nothing(code);
}

// The loader does not tell whether a bound function was ever called.
std::string bypass_text(const char* library, const log::FaultView& fault) {
  if (fault.r.value == 0) {
    return fmt::format(
        "calls of {} went past uctrace into {}, which the program opened with RTLD_DEEPBIND or "
        "asked for its functions by a handle",
        library, fault.detail);
  }
  return fmt::format(
      "calls of {} may have gone past uctrace into {}, which the program opened with "
      "RTLD_DEEPBIND: whether it was used cannot be seen",
      library, fault.detail);
}

}  // namespace

std::string reason_text(const log::FaultView& fault) {
  const std::string detail(fault.detail);
  switch (fault.code()) {
    case log::FaultCode::unknown_ucx_version:
      return "this version of UCX is not known to uctrace: " + detail;
    case log::FaultCode::self_check_failed:
      return "its self-check failed: " + detail;
    case log::FaultCode::symbol_missing:
      return detail;
    case log::FaultCode::out_of_interfaces:
      return fmt::format("more than {} interfaces were opened", fault.r.value);
    case log::FaultCode::unknown_mpi_library:
      return "this MPI library is not known to uctrace: " + detail +
             "; use one with the binary interface of Open MPI, of MPICH or of MPI's standard "
             "(MPI 5), or a newer uctrace";
    case log::FaultCode::request_field_unknown:
      return "requests have parameters that are not known: " + detail;
    case log::FaultCode::out_of_handlers:
      return fmt::format("more than {} active message handlers were set", fault.r.value);
    case log::FaultCode::other_ucx_loaded:
      return "another UCX than that of --ucx was loaded: " + detail;
    case log::FaultCode::unknown_patch:
      return "the UCX was rebuilt by another version of uctrace: " + detail;
    case log::FaultCode::several_ucx:
      return "it is not clear which of several UCX libraries is meant by calls of " + detail;
    case log::FaultCode::ucp_bypassed:
      return bypass_text("UCP", fault);
    case log::FaultCode::uct_bypassed:
      return bypass_text("UCT", fault);
    case log::FaultCode::mpi_bypassed:
      return bypass_text("MPI", fault);
    case log::FaultCode::unknown_condition:
      return "recording cannot wait for " + detail;
    case log::FaultCode::gpu_driver_unusable:
      return "its driver has no " + detail;
    case log::FaultCode::gpu_history_refused:
      if (fault.r.value == 1) return "not all that was told could be kept";
      break;
    case log::FaultCode::profile_not_written:
      return fmt::format("{}: {}", detail, std::strerror(fault.r.value));
    case log::FaultCode::left_out:
    case log::FaultCode::signal_taken:
    case log::FaultCode::clock_not_measured:
    case log::FaultCode::gpu_query_failed:
    case log::FaultCode::gpu_events_refused:
    case log::FaultCode::topology_not_taken:
    case log::FaultCode::counters_not_kept:
    case log::FaultCode::none:
    case log::FaultCode::kCount:
      break;
  }
  return detail.empty() ? "no reason was recorded" : detail;
}

Definitions::Definitions(const std::vector<ProcessReport>& processes) {
  for (const ProcessReport& process : processes) read(process.log);
}

void Definitions::read(const std::filesystem::path& path) {
  Defined& defined = of_log_[path];
  try {
    log::LogFile::open_definitions(path).for_each_record(
        log::Stream::definitions,
        log::Overloaded{
            [&](std::uint16_t, const log::FaultView& fault) {
              defined.faults.push_back({fault.code(), fault.r.layer, reason_text(fault)});
            },
            [&](std::uint16_t, const log::TextView& text) {
              if (text.kind() == log::TextKind::mpi_library && defined.mpi_library.empty()) {
                defined.mpi_library = text.text;
              }
            }});
  } catch (const Error& error) {
    defined.failure = error.message();
  }
}

template <typename Predicate>
std::string Definitions::first_fault(const ProcessReport& process, Predicate is_wanted) const {
  const auto& faults = of(process).faults;
  const auto found = std::find_if(faults.begin(), faults.end(), is_wanted);
  return found != faults.end() ? found->text : "";
}

std::string Definitions::fault(const ProcessReport& process, log::FaultCode code) const {
  return first_fault(process, [&](const Fault& fault) { return fault.code == code; });
}

std::string Definitions::off_reason(const ProcessReport& process, log::Layer layer) const {
  if (!of(process).failure.empty()) return of(process).failure;
  const std::string reason = first_fault(process, [&](const Fault& fault) {
    return fault.layer == layer && switches_off(fault.code);
  });
  return reason.empty() ? "no reason was recorded" : reason;
}

bool Definitions::is_off_for_ucx(const ProcessReport& process, log::Layer layer) const {
  std::size_t reasons = 0, of_ucx = 0;
  for (const Fault& fault : of(process).faults) {
    if (fault.layer != layer || !switches_off(fault.code)) continue;
    ++reasons;
    of_ucx += misses_library(fault.code) && fault.code != log::FaultCode::mpi_bypassed;
  }
  return reasons != 0 && reasons == of_ucx;
}

}  // namespace uctrace::cli
