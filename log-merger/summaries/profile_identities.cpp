#include "log-merger/summaries/profile_identities.hpp"

#include "log-merger/summaries/call_parts.hpp"

namespace uctrace {

namespace {

// A copy by the receiver's CPU is part of a message's path but not a transfer.
bool is_transfer(const Run& run, TextId op) { return run.texts[op] != "cpu_copy"; }

std::uint64_t payload_of_calls(const Run& run) {
  std::uint64_t bytes = 0;
  for (const Transfer& transfer : run.transfers) {
    const bool asked =
        transfer.message >= 0 && run.messages[static_cast<std::size_t>(transfer.message)].call >= 0;
    if (asked && transfer.role == Role::data) bytes += transfer.payload_bytes;
  }
  return bytes;
}

Identity identity(const char* name, const char* statement, std::uint64_t left,
                  std::uint64_t right) {
  return {name, "profile", statement,
          left, right,     left == right ? Verdict::holds : Verdict::violated};
}

}  // namespace

std::vector<Identity> profile_identities(const Run& run, const Profile& profile) {
  std::uint64_t calls = 0, ns = 0, bytes = 0, ns_of_calls = 0;
  for (const MpiCallRow& call : run.mpi_calls) ns_of_calls += CallParts::duration_of(call);
  for (const ProfileCalls& group : profile.calls) {
    calls += group.calls;
    ns += group.time_ns;
  }
  for (const ProfileTransfers& group : profile.transfers) {
    if (group.role == Role::data && is_transfer(run, group.op)) bytes += group.bytes;
  }
  return {
      identity("profile_calls", "MPI calls = calls of the profile", run.mpi_calls.size(), calls),
      identity("profile_time",
               "time in MPI calls = time of the profile, waits divided among communicators",
               ns_of_calls, ns),
      identity("profile_bytes",
               "payload of transfers for messages of MPI calls = payload in the profile's "
               "transports",
               payload_of_calls(run), bytes)};
}

}  // namespace uctrace
