// The communicator-centric profile of a run: exact sums over all calls and messages of its
// processes, by communicator. docs/profile.md describes the resulting file.
#pragma once

#include <cstdint>
#include <string>
#include <tuple>
#include <vector>

#include "log-merger/model/model.hpp"
#include "log-merger/model/mpi_names.hpp"

namespace uctrace {

// Calls that agree in everything but times.
struct ProfileCalls {
  std::int32_t communicator = -1;  // into Run::communicators, -1 = none
  TextId function = kNoText;
  std::uint32_t process = 0;
  std::int32_t peer = INT32_MIN;                     // world rank, or the marks of MpiCallRow
  std::int32_t call_site = -1;                       // into Run::call_sites
  std::uint64_t sent_bytes = 0, received_bytes = 0;  // of one call
  std::int32_t datatype = -1, recv_datatype = -1;    // into Run::datatypes
  std::uint64_t calls = 0;
  std::uint64_t time_ns = 0, min_ns = UINT64_MAX, max_ns = 0;

  auto key() const {
    return std::tie(communicator, function, process, peer, call_site, sent_bytes, received_bytes,
                    datatype, recv_datatype);
  }
  ProfileCalls& operator+=(const ProfileCalls& more);
};

// Transfers of messages with the same requesting call and transport.
struct ProfileTransfers {
  std::int32_t communicator = -1;
  TextId function = kNoText;
  std::int32_t process = -1;       // the requesting process
  std::int32_t peer_process = -1;  // its partner
  TextId transport = kNoText, device = kNoText, remote_device = kNoText, op = kNoText;
  Role role = Role::data;
  std::uint64_t transfers = 0, bytes = 0, wire_bytes = 0;

  auto key() const {
    return std::tie(communicator, function, process, peer_process, transport, device, remote_device,
                    op, role);
  }
  ProfileTransfers& operator+=(const ProfileTransfers& more);
};

// Messages between two processes.
struct ProfilePeers {
  std::int32_t communicator = -1;
  TextId function = kNoText;
  std::int32_t process = -1, peer_process = -1;
  std::uint64_t messages = 0, bytes = 0;

  auto key() const { return std::tie(communicator, function, process, peer_process); }
  ProfilePeers& operator+=(const ProfilePeers& more);
};

struct Profile {
  std::vector<ProfileCalls> calls;
  std::vector<ProfileTransfers> transfers;
  std::vector<ProfilePeers> peers;
};

// Messages without a requesting MPI call are left out.
Profile profile_of(const Run& run);

// Whether a process is on the second side of an intercommunicator.
bool is_on_remote_side(const Run& run, const Communicator& comm, const Process& process);

// The number of processes that receive the data of a collective call: in an intercommunicator, the
// other side.
std::uint32_t group_size(const Run& run, const Communicator& comm, const Process& process);

}  // namespace uctrace
