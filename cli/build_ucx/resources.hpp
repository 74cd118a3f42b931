// The transports and devices of a UCX, as `ucx_info -d` lists them, and how two lists differ.
#pragma once

#include <set>
#include <string>

namespace uctrace::cli::build_ucx {

// "tcp/eth0"; a component without a device (rdmacm) alone: "rdmacm".
using Resources = std::set<std::string>;

Resources parse_resources(const std::string& ucx_info);

struct ResourceChange {
  Resources missing, added, same;
};
ResourceChange compare(const Resources& before, const Resources& after);

}  // namespace uctrace::cli::build_ucx
