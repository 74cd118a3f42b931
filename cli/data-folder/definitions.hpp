// Texts from the processes of a job about their recording.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "cli/data-folder/job_log.hpp"
#include "event-log/reader/views.hpp"

namespace uctrace::cli {

// The text about a fault for a person.
std::string reason_text(const log::FaultView& fault);

// Reads each log once, and only its definitions: it may hold any number of events.
class Definitions {
 public:
  explicit Definitions(const std::vector<ProcessReport>& processes);

  // Empty if the process has none.
  const std::string& mpi_library(const ProcessReport& process) const {
    return of(process).mpi_library;
  }

  // The text of its first fault of this kind; empty if the process has none.
  std::string fault(const ProcessReport& process, log::FaultCode code) const;

  std::string off_reason(const ProcessReport& process, log::Layer layer) const;
  // True if there is no fault other than a bypassed or unknown UCX.
  bool is_off_for_ucx(const ProcessReport& process, log::Layer layer) const;

 private:
  struct Fault {
    log::FaultCode code;
    log::Layer layer;
    std::string text;
  };
  struct Defined {
    std::vector<Fault> faults;
    std::string mpi_library, failure;
  };

  void read(const std::filesystem::path& path);
  const Defined& of(const ProcessReport& process) const { return of_log_.at(process.log); }
  template <typename Predicate>
  std::string first_fault(const ProcessReport& process, Predicate is_wanted) const;

  std::map<std::filesystem::path, Defined> of_log_;
};

}  // namespace uctrace::cli
