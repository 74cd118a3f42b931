// Definitions that identify peers: UCT interfaces and endpoints, UCP workers, endpoints and
// connections, each with its lifetime. Private to log-merger/.
#pragma once

#include <vector>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// Takes the definitions of one log in the order of its streams; call finish_definitions() at their
// end.
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
  // Opened in this lane since its last worker: a worker is recorded after its interfaces.
  std::vector<InterfaceIndex> interfaces_of_next_worker_;
  std::uint16_t lane_ = 0;
};

}  // namespace uctrace::merge
