#include "log-merger/rails/hosts.hpp"

#include <fmt/format.h>

#include "event-log/reader/plain_text.hpp"

namespace uctrace::merge {

Hosts::Hosts(const Job& job) {
  for (const ProcessLog& log : job.logs) {
    of_.push_back({plain_text(log.file.host()), plain_text(log.file.boot_id())});
    boot_ids_[of_.back().name].insert(of_.back().boot_id);
  }
}

std::string Hosts::label(const Host& host) const {
  const auto found = boot_ids_.find(host.name);
  const bool is_alone = found == boot_ids_.end() || found->second.size() < 2;
  if (is_alone || host.boot_id.empty()) return host.name;
  return fmt::format("{}-{}", host.name, host.boot_id.substr(0, 8));
}

}  // namespace uctrace::merge
