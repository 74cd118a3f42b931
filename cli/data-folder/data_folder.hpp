// The folder a job is recorded into, and what `record` writes there itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/data-folder/lease.hpp"

namespace uctrace::cli {

// Where records go.
struct DataFolder {
  enum class State : std::uint8_t {
    fresh,       // holds no run; an older one was renamed
    shared,      // holds another job's data too: `why` says why it was not renamed
    unwritable,  // nothing can be recorded: `why` says why
  };
  std::filesystem::path path;  // absolute
  State state = State::fresh;
  std::string why = {};
  std::filesystem::path moved_to = {};  // the new name of an older run's folder
  std::unique_ptr<Lease> lease = {};    // none if it cannot be made
};

// Throws Error if `record` would refuse `path`: it is not a folder that is empty or has only
// uctrace's data, or it holds an older run and cannot be renamed. Changes nothing.
void require_usable_folder(const std::filesystem::path& path);

// Prepares `folder` for the job with this key, and takes a lease of it. A finished older run is
// renamed as a whole. Throws Error as above: it never moves a user's files.
DataFolder prepare_folder(const std::filesystem::path& folder, const std::string& job);

// For one rank of a job: makes the folder if it is missing, and moves nothing. Throws Error as
// above. A folder that cannot be made or written is not an error here. Returns its absolute path.
std::filesystem::path join_folder(const std::filesystem::path& folder);

// The content of run.json: how the job was started and how it ended.
struct RunRecord {
  std::vector<std::string> command;                     // as typed
  std::vector<std::string> started_as = {};             // as edited for its launcher
  std::map<std::string, std::string> environment = {};  // set for it
  std::string job;
  std::string host;
  std::uint64_t started_ns = 0;  // CLOCK_REALTIME
  std::uint64_t ended_ns = 0;    // 0 = has not ended
  std::optional<int> exit_status = {};
};

// False if it could not be written; an older run.json then stays whole.
bool write_run_json(const std::filesystem::path& folder, const RunRecord& record);

}  // namespace uctrace::cli
