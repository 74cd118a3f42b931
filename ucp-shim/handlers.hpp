// The program's active message handlers, with ours in front of each.
#pragma once

#include <ucp/api/ucp.h>

#include <cstdint>

namespace uctrace::ucp {

// Lives while a worker is destroyed. At the end it gives back the places of the worker's handlers.
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
