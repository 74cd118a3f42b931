#include "log-merger/peers/unlogged_peers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "event-log/reader/plain_text.hpp"

namespace uctrace::merge {

namespace {

using Json = nlohmann::ordered_json;

struct UnloggedPeer {
  std::uint64_t endpoints = 0, operations = 0;
};

// By process and the peer's identity: its socket address, else its worker's uid, else nothing.
using UnloggedPeers = std::map<std::pair<ProcessIndex, std::string>, UnloggedPeer>;

std::string name_of_peer(const UcpEndpoint& endpoint) {
  if (endpoint.connection) {
    return endpoint.connection->remote;
  }
  return endpoint.remote_uid != 0 ? fmt::format("worker {:#x}", endpoint.remote_uid) : "";
}

UnloggedPeers find_unlogged_peers(const Job& job) {
  UnloggedPeers unlogged;
  for (std::size_t p = 0; p < job.logs.size(); ++p) {
    for (const UcpEndpoint& endpoint : job.logs[p].ucp_endpoints) {
      if (endpoint.peer.process == kNone) {
        UnloggedPeer& peer = unlogged[{ProcessIndex(p), name_of_peer(endpoint)}];
        ++peer.endpoints;
        peer.operations += endpoint.operations;
      }
    }
  }
  return unlogged;
}

std::string process_name(const Job& job, ProcessIndex process) {
  const ProcessLog& log = job.logs[process];
  return log.rank() >= 0
             ? fmt::format("rank {}", log.rank())
             : fmt::format("pid {} on {}", log.file.page().pid, plain_text(log.file.host()));
}

}  // namespace

bool may_have_unlogged_peers(const Job& job) {
  return std::any_of(job.logs.begin(), job.logs.end(), [](const ProcessLog& log) {
    return (log.flavour == MpiFlavour::none && !log.workers.empty()) ||
           std::any_of(log.ucp_endpoints.begin(), log.ucp_endpoints.end(),
                       [](const UcpEndpoint& endpoint) { return endpoint.peer.process == kNone; });
  });
}

nlohmann::ordered_json peers_json(const Job& job) {
  std::map<PeerBy, std::uint64_t> endpoints;
  for (const ProcessLog& log : job.logs) {
    for (const UcpEndpoint& endpoint : log.ucp_endpoints) {
      ++endpoints[endpoint.peer_by];
    }
  }
  Json list = Json::array();
  for (const auto& [key, peer] : find_unlogged_peers(job)) {
    const auto& [process, name] = key;
    list.push_back({{"process", plain_text(job.logs[process].file.process_key())},
                    {"peer", name.empty() ? Json(nullptr) : Json(name)},
                    {"endpoints", peer.endpoints},
                    {"operations", peer.operations}});
  }
  return {{"by_worker_address", endpoints[PeerBy::worker_address]},
          {"by_connection", endpoints[PeerBy::connection]},
          {"by_transfers", endpoints[PeerBy::transfers]},
          {"unknown", endpoints[PeerBy::none]},
          {"strangers", std::move(list)}};
}

void note_unlogged_peers(Job& job) {
  constexpr std::size_t kNamed = 4;
  // Several processes may have the same peer.
  struct Partners {
    ProcessIndex first;
    std::size_t more = 0;
    std::uint64_t operations = 0;
  };
  std::map<std::string, Partners> peers;
  for (const auto& [key, peer] : find_unlogged_peers(job)) {
    const auto& [process, name] = key;
    if (name.empty() || peer.operations == 0) {
      continue;
    }
    Partners& partners = peers[name];
    partners.first == kNone ? void(partners.first = process) : void(++partners.more);
    partners.operations += peer.operations;
  }
  std::vector<std::string> named;
  for (const auto& [name, partners] : peers) {
    if (named.size() == kNamed) {
      break;
    }
    named.push_back(
        fmt::format("{} (of {}{}, {} operation{})", name, process_name(job, partners.first),
                    partners.more == 0 ? "" : fmt::format(" and {} more", partners.more),
                    partners.operations, partners.operations == 1 ? "" : "s"));
  }
  if (!peers.empty()) {
    job.run.notes.push_back(fmt::format("{} UCP peer{} left no log of this job: {}{}", peers.size(),
                                        peers.size() == 1 ? "" : "s", fmt::join(named, ", "),
                                        peers.size() > kNamed ? ", ..." : ""));
  }
}

}  // namespace uctrace::merge
