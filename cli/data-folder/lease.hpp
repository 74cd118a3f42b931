// The lease of a data folder: a file that `record` keeps there while it waits for its job, which
// may run elsewhere or wait in a queue. Meanwhile no other `record` moves the folder.
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
  // Removes it, even if its folder was renamed.
  ~Lease();
  Lease(const Lease&) = delete;
  Lease& operator=(const Lease&) = delete;

  // A sign of life: sets the modification time to the file server's time. Ignores failures.
  void refresh() const;
  const std::string& name() const { return name_; }
  // The present name of its folder; `before` if that is unchanged or not known.
  std::filesystem::path folder(const std::filesystem::path& before) const;

 private:
  std::string name_;
  int folder_;
  NewFile file_;
};

// A lease that was found in a folder.
struct FoundLease {
  std::string name;
  std::string host;  // empty if it cannot be read
  log::Life life = log::Life::unknown;
};

// `now_ns` is the time of the file server. An unreadable lease is judged by its time alone.
std::vector<FoundLease> find_leases(const std::filesystem::path& folder, std::uint64_t now_ns);

}  // namespace uctrace::cli
