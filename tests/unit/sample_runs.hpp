// Runs to test with: small_run() to be read, random_run() to be summed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "log-merger/model/model.hpp"

namespace uctrace {

using Random = std::mt19937_64;

inline std::uint64_t below(Random& random, std::uint64_t limit) { return random() % limit; }

inline TextId any_of(Run& run, Random& random, const std::vector<const char*>& texts) {
  return run.texts.intern(texts[below(random, texts.size())]);
}

inline const std::vector<const char*> kFunctions = {"", "MPI_Isend", "MPI_Send", "MPI_Allreduce"};
inline const std::vector<const char*> kTransports = {"posix", "cma", "tcp"};
inline const std::vector<const char*> kOperations = {"am_short", "am_bcopy", "get_zcopy"};

inline void add_processes(Run& run, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    Process process;
    process.key = run.texts.intern("key" + std::to_string(i));
    process.host = run.texts.intern(i % 2 == 0 ? "even" : "odd");
    process.pid = static_cast<std::uint32_t>(100 + i);
    process.rank = static_cast<std::int32_t>(i);
    process.complete = true;
    process.exit = run.texts.intern("finalized");
    run.processes.push_back(process);
  }
}

inline Hop random_hop(Run& run, Random& random) {
  Hop hop;
  hop.message = static_cast<std::uint32_t>(run.messages.size());
  hop.role = static_cast<Role>(below(random, 3));
  hop.transport = any_of(run, random, kTransports);
  hop.op = any_of(run, random, kOperations);
  hop.device = run.texts.intern("memory");
  hop.count = 1 + below(random, 9);
  hop.payload_bytes = below(random, 4096);
  hop.wire_bytes = hop.payload_bytes + below(random, 64);
  return hop;
}

inline void add_message(Run& run, Random& random) {
  Message message;
  // One in so many ends is not known.
  const auto end = [&] {
    return static_cast<std::int32_t>(below(random, run.processes.size() + 1)) - 1;
  };
  message.src = message.src_process = end();
  message.dst = message.dst_process = end();
  message.match = static_cast<Match>(below(random, 4));
  message.kind = static_cast<MessageKind>(below(random, 6));
  message.mpi = any_of(run, random, kFunctions);
  message.comm = any_of(run, random, {"", "MPI_COMM_WORLD", "split"});
  message.protocol = any_of(run, random, {"", "eager/short", "rndv/get"});
  message.bytes = below(random, 1 << 20);
  message.first_hop = static_cast<std::uint32_t>(run.hops.size());
  message.hops = static_cast<std::uint32_t>(below(random, 4));
  for (std::uint32_t i = 0; i < message.hops; ++i) run.hops.push_back(random_hop(run, random));
  run.messages.push_back(message);
}

inline void add_transfer_without_message(Run& run, Random& random) {
  Transfer transfer;
  transfer.process = static_cast<std::uint32_t>(below(random, run.processes.size()));
  transfer.peer_process = static_cast<std::int32_t>(below(random, run.processes.size()));
  transfer.transport = any_of(run, random, kTransports);
  transfer.op = any_of(run, random, kOperations);
  transfer.link = below(random, 2) == 0 ? Link::reason : Link::unattributed;
  if (transfer.link == Link::reason) transfer.reason = run.texts.intern("wireup");
  transfer.role = Role::control;
  transfer.wire_bytes = below(random, 256);
  run.transfers.push_back(transfer);
}

inline Run random_run(std::uint64_t seed) {
  Random random(seed);
  Run run;
  run.run_id = "run";
  run.info_json = "{}";
  add_processes(run, 3 + below(random, 3));
  for (int i = 0; i < 200; ++i) add_message(run, random);
  for (int i = 0; i < 50; ++i) add_transfer_without_message(run, random);
  for (int i = 0; i < 60; ++i) {
    MpiCallRow call;
    call.function = any_of(run, random, kFunctions);
    call.comm = any_of(run, random, {"", "MPI_COMM_WORLD", "split"});
    call.bytes = below(random, 4096);
    call.recv_bytes = below(random, 4096);
    call.t_start_ns = static_cast<std::int64_t>(below(random, 1000));
    call.t_end_ns = call.t_start_ns + static_cast<std::int64_t>(below(random, 1000));
    run.mpi_calls.push_back(call);
  }
  return run;
}

// Two processes and one message of three hops.
inline Run small_run() {
  Run run;
  run.info_json = R"({"ucx":{"version":"1.13.1"},"mpi":{"library":"Open MPI v4.1.4"}})";
  run.command = "mpirun -np 2 ./a";
  add_processes(run, 2);
  Message message;
  message.src = message.src_process = 0;
  message.dst = message.dst_process = 1;
  message.match = Match::exact;
  message.bytes = 65536;
  message.has_tag = true;
  message.tag = 7;
  message.ucp_tag = 0x700000001;
  message.status = run.texts.intern("UCS_OK");
  message.mpi = run.texts.intern("MPI_Isend");
  message.comm = run.texts.intern("MPI_COMM_WORLD");
  message.protocol = run.texts.intern("rndv/get");
  message.protocol_from = ProtocolFrom::derived;
  message.t_start_ns = 1000;
  message.t_end_ns = 84100;
  message.hops = 2;
  run.messages.push_back(message);
  Hop data;
  data.transport = run.texts.intern("cma");
  data.device = run.texts.intern("memory");
  data.op = run.texts.intern("get_zcopy");
  data.issued_by = Side::dst;
  data.count = 1;
  data.payload_bytes = data.wire_bytes = 65536;
  Hop control = data;
  control.role = Role::control;
  control.issued_by = Side::src;
  control.op = run.texts.intern("am_bcopy");
  control.transport = run.texts.intern("posix");
  control.payload_bytes = 0;
  control.wire_bytes = 54;
  run.hops = {control, data};
  return run;
}

// A setting of so many processes from `first` on.
inline void set(Run& run, SettingFrom from, const char* name, const char* value,
                std::uint32_t first, std::uint32_t processes) {
  run.settings.push_back({run.texts.intern(name), run.texts.intern(value), from, first, processes});
}

}  // namespace uctrace
