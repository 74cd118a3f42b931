// A run in which everything has a time.
#pragma once

#include "tests/unit/sample_runs.hpp"

namespace uctrace {

inline constexpr std::int64_t kDuration = 1'000'000;

// random_run with instants: of messages, and of the operations of all three layers.
inline Run timed_run(std::uint64_t seed) {
  Run run = random_run(seed);
  Random random(seed + 100);
  const auto instant = [&] { return static_cast<std::int64_t>(below(random, kDuration)); };
  const auto length = [&] { return static_cast<std::int64_t>(below(random, kDuration / 4)); };
  for (Message& message : run.messages) {
    if (below(random, 20) == 0) continue;  // not known
    message.t_start_ns = instant();
    message.t_end_ns = message.t_start_ns + length();
  }
  for (Transfer& transfer : run.transfers) transfer.t_start_ns = instant();
  for (std::size_t i = 0; i < run.messages.size(); ++i) {
    const Message& message = run.messages[i];
    if (message.src_process < 0 || message.t_start_ns < 0) continue;
    UcpOperationRow row;
    row.process = static_cast<std::uint32_t>(message.src_process);
    row.message = static_cast<std::int64_t>(i);
    row.t_start_ns = message.t_start_ns;
    row.t_end_ns = below(random, 9) == 0 ? -1 : row.t_start_ns + length();
    row.tag = 0xfedcba9876543210;
    run.ucp_operations.push_back(row);
    for (std::uint32_t k = 0; k < message.hops; ++k) {
      const Hop& hop = run.hops[message.first_hop + k];
      Transfer transfer;
      transfer.process = row.process;
      transfer.message = row.message;
      transfer.transport = hop.transport;
      transfer.device = hop.device;
      transfer.op = hop.op;
      transfer.role = hop.role;
      transfer.t_start_ns = message.t_start_ns;
      transfer.t_end_ns = transfer.t_start_ns + 10;
      transfer.t_complete_ns = below(random, 2) == 0 ? transfer.t_start_ns + length() : -1;
      run.transfers.push_back(transfer);
    }
  }
  for (MpiCallRow& call : run.mpi_calls) {
    call.process = static_cast<std::uint32_t>(below(random, run.processes.size()));
    call.t_start_ns = instant();
    call.t_end_ns = call.t_start_ns + length();
  }
  return run;
}

}  // namespace uctrace
