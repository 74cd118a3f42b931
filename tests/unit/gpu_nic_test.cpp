// Bytes between memory and network cards: the sums over the hops, and where they are listed.
#include "log-merger/summaries/gpu_nic.hpp"

#include <doctest/doctest.h>

#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "tests/unit/sample_runs.hpp"

namespace uctrace {
namespace {

constexpr const char* kCards[] = {"mlx5_0:1", "eth0"};

MemoryPlace any_memory(Random& random) {
  constexpr MemoryPlace kPlaces[] = {kHostPlace,
                                     {MemoryKind::gpu, 0},
                                     {MemoryKind::gpu, 1},
                                     {MemoryKind::managed, 0},
                                     {MemoryKind::unknown, -1}};
  return kPlaces[below(random, std::size(kPlaces))];
}

// Of two hosts, "even" and "odd", each with a GPU of its own and both cards.
Run run_of_two_hosts(std::uint64_t seed) {
  Random random(seed);
  Run run = random_run(seed);
  for (const char* host : {"even", "odd"}) {
    const auto row = static_cast<std::int32_t>(run.gpus.size());
    run.gpus.push_back({.host = run.texts.intern(host)});
    for (const char* card : kCards) {
      const auto nic = static_cast<std::int32_t>(run.nics.size());
      run.nics.push_back({.host = run.texts.intern(host), .device = run.texts.intern(card)});
      GpuNic pair;
      pair.host = run.texts.intern(host);
      pair.memory = MemoryKind::gpu;
      pair.gpu = row;
      pair.nic = nic;
      pair.distance = nic % 2 == 0 ? Distance::pix : Distance::sys;
      pair.numa_distance = nic % 2 == 0 ? 10 : 21;
      run.gpu_nic.push_back(pair);
    }
  }
  for (Hop& hop : run.hops) {
    hop.network = below(random, 2) == 0;
    hop.issued_by = below(random, 2) == 0 ? Side::src : Side::dst;
    hop.device = run.texts.intern(kCards[below(random, 2)]);
    hop.remote_device =
        below(random, 5) == 0 ? kNoText : run.texts.intern(kCards[below(random, 2)]);
    const MemoryPlace from = any_memory(random), to = any_memory(random);
    std::tie(hop.from_memory, hop.from_gpu) = std::tie(from.kind, from.gpu);
    std::tie(hop.to_memory, hop.to_gpu) = std::tie(to.kind, to.gpu);
  }
  for (Message& message : run.messages) {
    const MemoryPlace from = any_memory(random), to = any_memory(random);
    std::tie(message.src_memory, message.src_gpu) = std::tie(from.kind, from.gpu);
    std::tie(message.dst_memory, message.dst_gpu) = std::tie(to.kind, to.gpu);
  }
  merge::lay_out_gpu_nic(run);
  return run;
}

// host, memory, GPU, card
using Key = std::tuple<std::string, MemoryKind, std::int32_t, std::string>;
struct Sums {
  std::uint64_t out_operations = 0, out_bytes = 0, in_operations = 0, in_bytes = 0;
  std::uint64_t out_staged = 0, in_staged = 0;
  bool operator==(const Sums&) const = default;
};

std::string host_of(const Run& run, std::int32_t process) {
  return process < 0 ? "" : run.texts[run.processes[static_cast<std::size_t>(process)].host];
}

// Written down hop by hop, without legs.
std::map<Key, Sums> expected(const Run& run) {
  std::map<Key, Sums> sums;
  std::set<std::pair<std::uint32_t, Side>> copied;  // messages, and where data of them was copied
  for (const Hop& hop : run.hops) {
    if (hop.role == Role::staging) copied.emplace(hop.message, hop.issued_by);
  }
  for (const Message& message : run.messages) {
    for (const Hop& hop : path_of(run, message)) {
      if (!hop.network || hop.role != Role::data) continue;
      const bool out_copied = copied.contains({hop.message, Side::src});
      const bool in_copied = copied.contains({hop.message, Side::dst});
      const bool by_source = hop.issued_by == Side::src;
      const std::string src = host_of(run, message.src_process);
      const std::string dst = host_of(run, message.dst_process);
      // A card of a process that left no log is not known.
      const TextId first = by_source ? hop.device : hop.remote_device;
      const TextId last = by_source ? hop.remote_device : hop.device;
      const std::string out_card = src.empty() ? "" : run.texts[first];
      const std::string in_card = dst.empty() ? "" : run.texts[last];
      const auto on_device = [](MemoryKind kind) {
        return kind == MemoryKind::gpu || kind == MemoryKind::managed;
      };
      if (hop.from_memory == MemoryKind::host && on_device(message.src_memory) && out_copied) {
        sums[{src, message.src_memory, message.src_gpu, out_card}].out_staged += hop.payload_bytes;
      }
      if (hop.to_memory == MemoryKind::host && on_device(message.dst_memory) && in_copied) {
        sums[{dst, message.dst_memory, message.dst_gpu, in_card}].in_staged += hop.payload_bytes;
      }
      Sums& out = sums[{src, hop.from_memory, hop.from_gpu, out_card}];
      out.out_operations += hop.count;
      out.out_bytes += hop.payload_bytes;
      Sums& in = sums[{dst, hop.to_memory, hop.to_gpu, in_card}];
      in.in_operations += hop.count;
      in.in_bytes += hop.payload_bytes;
    }
  }
  return sums;
}

std::map<Key, Sums> found(const Run& run, const std::vector<GpuNic>& rows) {
  std::map<Key, Sums> sums;
  for (const GpuNic& row : rows) {
    const std::string card =
        row.nic < 0 ? "" : run.texts[run.nics[static_cast<std::size_t>(row.nic)].device];
    const Key key{run.texts[row.host], row.memory, row.gpu, card};
    CHECK(!sums.contains(key));
    sums[key] = {row.out_operations, row.out_bytes,        row.in_operations,
                 row.in_bytes,       row.out_staged_bytes, row.in_staged_bytes};
  }
  return sums;
}

TEST_CASE("the matrix is the sums over the hops") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Run run = run_of_two_hosts(seed);
    std::map<Key, Sums> sums = expected(run);
    std::uint64_t data = 0, out = 0, in = 0;
    for (const Hop& hop : run.hops)
      data += hop.network && hop.role == Role::data ? hop.payload_bytes : 0;
    for (const GpuNic& row : run.gpu_nic) {
      out += row.out_bytes;
      in += row.in_bytes;
    }
    CHECK(out == data);
    CHECK(in == data);
    for (std::size_t gpu = 0; gpu < run.gpus.size(); ++gpu) {  // pairs stand there anyway
      for (const char* card : kCards) {
        sums[{run.texts[run.gpus[gpu].host], MemoryKind::gpu, static_cast<std::int32_t>(gpu),
              card}];
      }
    }
    CHECK(found(run, run.gpu_nic) == sums);
  }
}

Hop data_hop(Run& run, MemoryPlace from, MemoryPlace to, std::uint64_t bytes) {
  Hop hop;
  hop.network = true;
  hop.device = hop.remote_device = run.texts.intern("mlx5_0:1");
  hop.count = 1;
  hop.payload_bytes = bytes;
  std::tie(hop.from_memory, hop.from_gpu) = std::tie(from.kind, from.gpu);
  std::tie(hop.to_memory, hop.to_gpu) = std::tie(to.kind, to.gpu);
  return hop;
}

// An active message of 65536 bytes from GPU 0 to GPU 1 of another host, whose header of 24 bytes
// goes from host to host. Data that is copied at a side lies in the host's memory there.
Run run_with_header(const std::set<Side>& copied) {
  Run run;
  add_processes(run, 2);
  for (const Process& process : run.processes) {
    run.gpus.push_back({.host = process.host});
    run.nics.push_back({.host = process.host, .device = run.texts.intern("mlx5_0:1")});
  }
  const MemoryPlace from{MemoryKind::gpu, 0}, to{MemoryKind::gpu, 1};
  run.hops = {data_hop(run, kHostPlace, kHostPlace, 24),
              data_hop(run, copied.contains(Side::src) ? kHostPlace : from,
                       copied.contains(Side::dst) ? kHostPlace : to, 65536)};
  for (const Side side : copied) {
    Hop copy;
    copy.role = Role::staging;
    copy.issued_by = side;
    copy.count = 1;
    run.hops.push_back(copy);
  }
  Message message;
  message.src = message.src_process = 0;
  message.dst = message.dst_process = 1;
  message.kind = MessageKind::am;
  message.bytes = 65536 + 24;
  message.hops = static_cast<std::uint32_t>(run.hops.size());
  std::tie(message.src_memory, message.src_gpu) = std::tie(from.kind, from.gpu);
  std::tie(message.dst_memory, message.dst_gpu) = std::tie(to.kind, to.gpu);
  run.messages.push_back(message);
  merge::lay_out_gpu_nic(run);
  return run;
}

TEST_CASE("a header on the host is staged only where the data beside it was") {
  const std::uint64_t header = 24, data = 65536;
  const Key gpu0{"even", MemoryKind::gpu, 0, "mlx5_0:1"},
      gpu1{"odd", MemoryKind::gpu, 1, "mlx5_0:1"};
  const Key host0{"even", MemoryKind::host, -1, "mlx5_0:1"};
  const Key host1{"odd", MemoryKind::host, -1, "mlx5_0:1"};

  const Run direct = run_with_header({});
  CHECK(found(direct, direct.gpu_nic) == std::map<Key, Sums>{{gpu0, {1, data, 0, 0, 0, 0}},
                                                             {gpu1, {0, 0, 1, data, 0, 0}},
                                                             {host0, {1, header, 0, 0, 0, 0}},
                                                             {host1, {0, 0, 1, header, 0, 0}}});

  const Run at_source = run_with_header({Side::src});
  CHECK(found(at_source, at_source.gpu_nic) ==
        std::map<Key, Sums>{{gpu0, {0, 0, 0, 0, header + data, 0}},
                            {gpu1, {0, 0, 1, data, 0, 0}},
                            {host0, {2, header + data, 0, 0, 0, 0}},
                            {host1, {0, 0, 1, header, 0, 0}}});

  const Run at_destination = run_with_header({Side::dst});
  CHECK(found(at_destination, at_destination.gpu_nic) ==
        std::map<Key, Sums>{{gpu0, {1, data, 0, 0, 0, 0}},
                            {gpu1, {0, 0, 0, 0, 0, header + data}},
                            {host0, {1, header, 0, 0, 0, 0}},
                            {host1, {0, 0, 2, header + data, 0, 0}}});
}

TEST_CASE("only what is chosen is in it, and all pairs of GPUs and cards are") {
  const Run run = run_of_two_hosts(7);
  FilterSpec tcp;
  tcp.transport = {"tcp"};
  std::uint64_t expected_bytes = 0, out = 0;
  for (const Hop& hop : run.hops) {
    const bool chosen = hop.network && hop.role == Role::data && run.texts[hop.transport] == "tcp";
    expected_bytes += chosen ? hop.payload_bytes : 0;
  }
  for (const GpuNic& row : gpu_nic_totals(run, Filter(run, tcp))) out += row.out_bytes;
  CHECK(out == expected_bytes);

  FilterSpec none;
  none.min_bytes = std::uint64_t{1} << 40;
  const auto rows = gpu_nic_totals(run, Filter(run, none));
  CHECK(rows.size() == 4);
  for (const GpuNic& row : rows) {
    CHECK(row.gpu >= 0);
    CHECK(row.out_operations + row.in_operations == 0);
  }
}

TEST_CASE("managed memory is as far from a card as its GPU") {
  const Run run = run_of_two_hosts(3);
  bool managed = false;
  for (const GpuNic& row : run.gpu_nic) {
    const bool at_own_host = row.gpu >= 0 && row.nic >= 0 &&
                             run.gpus[static_cast<std::size_t>(row.gpu)].host == row.host;
    if (!at_own_host) {
      CHECK(row.distance == Distance::unknown);
      continue;
    }
    managed |= row.memory == MemoryKind::managed;
    CHECK(row.distance == (row.nic % 2 == 0 ? Distance::pix : Distance::sys));
    CHECK(row.numa_distance == (row.nic % 2 == 0 ? 10 : 21));
  }
  CHECK(managed);
}

}  // namespace
}  // namespace uctrace
