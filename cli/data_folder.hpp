// The folder a job is recorded into, and what `record` writes there itself.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace uctrace::cli {

// A link to the preload library, where its own path cannot be loaded.
inline constexpr const char* kLibraryLink = "libuctrace.so";

// Where records go.
struct DataFolder {
  enum class State : std::uint8_t {
    fresh,       // new, or emptied by moving older data to DIR.old
    shared,      // holds another job's data too: `why` says why it was not moved
    unwritable,  // nothing can be recorded: `why` says why
  };
  std::filesystem::path path;  // absolute
  State state = State::fresh;
  std::string why = {};
  std::filesystem::path moved_to = {};  // where older data went; empty if there was none
};

// Throws Error if `path` exists and is anything but a folder with nothing or uctrace's data in it.
void require_own_folder(const std::filesystem::path& path);

// Makes `folder` ready for a job. Older data moves to `folder`.old, replacing what is there. Throws
// Error if either holds anything but uctrace's data: nothing of a user's is ever moved.
DataFolder prepare_folder(const std::filesystem::path& folder);

// A fresh private folder under TMPDIR that is gone, with all in it, at the end of its scope. Its
// path is empty if it could not be made.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// What run.json says: how the job was started and how it ended.
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
