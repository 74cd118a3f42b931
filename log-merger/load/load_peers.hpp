// What a log defines of who is who: interfaces and endpoints of UCT, workers, endpoints and
// connections of UCP, from when to when each was there. Private to log-merger/.
#pragma once

#include <vector>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// Takes the definitions of one log in the order of its streams; finish_definitions() at their end.
class PeerLoader {
 public:
  PeerLoader(Job& job, ProcessLog& log) : job_(job), log_(log) {}

  void take(std::uint16_t lane, const log::UctInterfaceView& view);
  void take(const log::UctEndpointView& view);
  void take(std::uint16_t lane, const log::UcpWorkerView& view);
  void take(const log::UcpEndpointView& view);
  void take(const log::UcpConnectionView& view);
  void take(const log::HandleEndView& view);
  void finish_definitions();

 private:
  struct ConnectionOf {
    std::uint64_t handle, tick;
    Connection connection;
  };
  struct End {
    std::uint64_t handle, tick;
  };

  void finish_endpoints();
  void finish_ucp_endpoints();
  UcpEndpoint* endpoint_of(const ConnectionOf& connection);

  Job& job_;
  ProcessLog& log_;
  std::vector<Endpoint> own_addresses_, connects_;
  std::vector<ConnectionOf> connections_;
  std::vector<End> worker_ends_, interface_ends_, endpoint_ends_;
  // Opened in this lane since it last made a worker: a worker is told after its interfaces.
  std::vector<InterfaceIndex> interfaces_of_next_worker_;
  std::uint16_t lane_ = 0;
};

}  // namespace uctrace::merge
