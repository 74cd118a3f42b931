// The program's active message handlers, ours in front of each.
#pragma once

#include <ucp/api/ucp.h>

#include <cstdint>

namespace uctrace::ucp {

// Lives while a worker is destroyed, and gives the places of its handlers back at the end.
class HandlersOf {
 public:
  explicit HandlersOf(ucp_worker_h worker);
  ~HandlersOf();
  HandlersOf(const HandlersOf&) = delete;
  HandlersOf& operator=(const HandlersOf&) = delete;

 private:
  std::uintptr_t ending_;
};

}  // namespace uctrace::ucp
