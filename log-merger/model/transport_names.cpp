#include "log-merger/model/transport_names.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace uctrace {
namespace {

// Names of UCX_TLS that stand for several transports (UCX: ucp_tl_aliases in ucp_context.c).
struct Group {
  std::string_view name;
  std::array<std::string_view, 6> members;
};
constexpr Group kGroups[] = {
    {"sm", {"posix", "sysv", "cma", "knem", "xpmem", "mm"}},
    {"shm", {"posix", "sysv", "cma", "knem", "xpmem", "mm"}},
    {"mm", {"posix", "sysv", "xpmem"}},
    {"ib", {"rc", "ud", "dc"}},
    {"rc_x", {"rc_mlx5"}},
    {"rc_v", {"rc_verbs"}},
    {"ud_x", {"ud_mlx5"}},
    {"ud_v", {"ud_verbs"}},
    {"dc_x", {"dc_mlx5"}},
    {"cuda", {"cuda_copy", "cuda_ipc", "gdr_copy"}},
    {"rocm", {"rocm_copy", "rocm_ipc", "rocm_gdr"}},
};

}  // namespace

bool is_meant_by(std::string_view transport, std::string_view name) {
  if (name == "all" || transport == name) return true;
  if (transport.size() > name.size() && transport.starts_with(name) &&
      transport[name.size()] == '_') {
    return true;
  }
  for (const Group& group : kGroups) {
    if (group.name != name) continue;
    return std::any_of(group.members.begin(), group.members.end(), [&](std::string_view member) {
      return !member.empty() && member != name && is_meant_by(transport, member);
    });
  }
  return false;
}

bool tls_allow(std::string_view value, std::string_view transport) {
  const bool excludes = value.starts_with('^');
  if (excludes) value.remove_prefix(1);
  for (std::size_t begin = 0; begin <= value.size();) {
    const std::size_t end = std::min(value.find(',', begin), value.size());
    std::string_view name = value.substr(begin, end - begin);
    name = name.substr(0, name.find(':'));          // "ud:aux" allows it only for wire-up
    const bool is_strict = name.starts_with('\\');  // exactly this name, not its aliases
    if (is_strict ? name.substr(1) == transport : is_meant_by(transport, name)) return !excludes;
    begin = end + 1;
  }
  return excludes;
}

}  // namespace uctrace
