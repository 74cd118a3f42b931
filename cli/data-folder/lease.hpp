// The lease of a data folder: a file that `record` holds there for as long as it waits for its job,
// which may run elsewhere or wait in a queue, so that no other `record` moves the folder meanwhile.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "event-log/reader/liveness.hpp"
#include "log-merger/folder/new_file.hpp"

namespace uctrace::cli {

class Lease {
 public:
  // Makes the file. Throws std::system_error.
  Lease(const std::filesystem::path& folder, const std::string& job);
  // Removes it, wherever its folder is by now.
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  // A sign of life: the file server's time becomes that of its modification. Nothing happens if
  // that fails.
  void refresh() const;
  const std::string& name() const { return name_; }
  // What its folder is called by now; `before` where that is still its name, or cannot be told.
  std::filesystem::path folder(const std::filesystem::path& before) const;

 private:
  std::string name_;
  int folder_;
  NewFile file_;
};

// One that was found in a folder.
struct FoundLease {
  std::string name;
  std::string host;  // empty if it cannot be read
  log::Life life = log::Life::unknown;
};

// `now_ns` is the time of the file server. One that cannot be read is judged by its time alone.
std::vector<FoundLease> find_leases(const std::filesystem::path& folder, std::uint64_t now_ns);

}  // namespace uctrace::cli
