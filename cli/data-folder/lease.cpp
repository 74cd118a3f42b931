#include "cli/data-folder/lease.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "cli/data-folder/file_times.hpp"
#include "event-log/format/file_name.hpp"
#include "log-merger/folder/data_files.hpp"
#include "log-merger/folder/file_identity.hpp"
#include "log-merger/model/json_text.hpp"

namespace uctrace::cli {
namespace {

namespace fs = std::filesystem;

std::string lease_name(const log::ProcessName& holder, const std::string& job) {
  log::NamePart host;
  return fmt::format("{}-{:.8}{}", log::write_name_part(host, holder.host.c_str()), job,
                     kLeaseSuffix);
}

std::string lease_text(const log::ProcessName& holder, const std::string& job) {
  const nlohmann::ordered_json json = {{"host", holder.host},
                                       {"boot_id", holder.boot_id},
                                       {"pid_namespace", holder.pid_namespace},
                                       {"time_namespace", holder.time_namespace},
                                       {"pid", holder.pid},
                                       {"start_time", holder.start_time},
                                       {"job", job}};
  return dump(json, 2) + "\n";
}

// Nothing in it is trusted.
log::ProcessName parse(const std::string& text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  if (!json.is_object()) return {};
  try {
    return {.host = json.at("host"),
            .boot_id = json.at("boot_id"),
            .pid_namespace = json.at("pid_namespace"),
            .time_namespace = json.at("time_namespace"),
            .pid = json.at("pid"),
            .start_time = json.at("start_time")};
  } catch (const nlohmann::json::exception&) {
    return {};
  }
}

FoundLease read_lease(const fs::path& path, std::uint64_t now_ns) {
  FoundLease lease{.name = path.filename().string(), .host = {}};
  const int fd = open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  std::array<char, 4096> text{};
  const ssize_t n = fd >= 0 ? read(fd, text.data(), text.size()) : 0;
  if (fd >= 0) close(fd);
  const log::ProcessName holder =
      parse({text.data(), static_cast<std::size_t>(std::max<ssize_t>(n, 0))});
  const std::uint64_t heard = modified_ns(path);
  lease.host = holder.host;
  lease.life = log::life_of(false, log::look_for(holder),
                            {.heartbeat = heard, .modified = heard, .now = now_ns});
  return lease;
}

}  // namespace

Lease::Lease(const fs::path& folder, const std::string& job)
    : name_(lease_name(log::this_process(), job)),
      folder_(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)),
      file_(folder / name_) {
  file_.write(lease_text(log::this_process(), job));
  file_.publish();
}

Lease::~Lease() {
  if (folder_ < 0) return;
  if (are_same(identity_of(file_.fd()), identity_of_name(folder_, name_))) {
    unlinkat(folder_, name_.c_str(), 0);
  }
  close(folder_);
}

fs::path Lease::folder(const fs::path& before) const {
  const auto own = identity_of(folder_);
  if (!own) return before;
  const auto leads_here = [&](const fs::path& path) { return are_same(own, identity_of(path)); };
  if (leads_here(before)) return before;
  std::error_code error;
  const fs::path now = fs::read_symlink("/proc/self/fd/" + std::to_string(folder_), error);
  return !error && leads_here(now) ? now : before;
}

void Lease::refresh() const { futimens(file_.fd(), nullptr); }

std::vector<FoundLease> find_leases(const fs::path& folder, std::uint64_t now_ns) {
  std::vector<FoundLease> found;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == kLeaseSuffix) found.push_back(read_lease(it->path(), now_ns));
  }
  return found;
}

}  // namespace uctrace::cli
