// Jobs that hang, without logs.
#pragma once

#include <cstdint>
#include <vector>

#include "log-merger/hang/hang.hpp"
#include "tests/unit/job_builder.hpp"

namespace uctrace::merge::test {

using Json = nlohmann::ordered_json;

inline constexpr std::uint64_t kExact = ~std::uint64_t{0};

// Ranks of Open MPI with two communicators of all of them.
struct Hung {
  static constexpr CommIndex kWorld{0}, kCopy{1};

  explicit Hung(int ranks, const char* exit = "killed", const JobBuilder::ChangePage& change = {})
      : builder(ranks, change) {
    for (const char* name : {"MPI_COMM_WORLD", "copy"}) {
      CommInstance instance;
      instance.sides[0].world = 0;
      instance.sides[0].size = static_cast<std::uint32_t>(ranks);
      instance.sides[0].members = {{0, 1, static_cast<std::uint32_t>(ranks), 0}};
      job().comms.push_back(instance);
      for (int i = 0; i < ranks; ++i) {
        Comm comm;
        comm.name = texts().intern(name);
        comm.instance = InstanceIndex(job().comms.size() - 1);
        builder.log(i).comms.push_back(comm);
      }
    }
    for (int i = 0; i < ranks; ++i) {
      Process row;
      row.rank = i;
      row.world = 0;
      row.exit = texts().intern(exit);
      job().run.processes.push_back(row);
      builder.log(i).calls_of_lane.resize(1);
      builder.log(i).world = 0;
      builder.log(i).flavour = MpiFlavour::open_mpi;
    }
  }
  Job& job() { return builder.job; }
  Texts& texts() { return builder.job.run.texts; }

  CallIndex call(Rank rank, const char* function, bool open, std::int64_t start_ns,
                 CommIndex comm = kWorld, std::size_t lane = 0) {
    MpiCall row;
    row.process = rank;
    row.function = texts().intern(function);
    row.open = open;
    row.start_ns = start_ns;
    row.start_tick = static_cast<std::uint64_t>(start_ns);
    row.end_ns = open ? -1 : start_ns + 1;
    row.end_tick = open ? UINT64_MAX : row.start_tick + 1;
    row.peer = row.tag = row.recv_peer = row.recv_tag = log::MpiCall::kNone;
    row.comm = comm;
    job().calls.push_back(row);
    const CallIndex index(job().calls.size() - 1);
    builder.log(rank).calls_of_lane[lane].push_back(index);
    return index;
  }

  static std::uint64_t tag_of(Rank source, int tag, CommIndex comm) {
    return static_cast<std::uint64_t>(tag) << 40 | source.place() << 20 | (comm.place() + 1);
  }

  CallIndex receive(Rank at, Rank from, int tag, std::int64_t start_ns, CommIndex comm = kWorld) {
    const CallIndex index = call(at, "MPI_Recv", true, start_ns, comm);
    job().calls[index].peer = from.number();
    job().calls[index].tag = tag;
    const UcpIndex op = builder.open_receive(at, tag_of(from, tag, comm), kExact,
                                             static_cast<std::uint64_t>(start_ns));
    builder.ucp(op).asked_by = index;
    builder.ucp(op).comm = comm;
    return index;
  }

  UcpIndex send(Rank from, Rank to, int tag, std::int64_t start_ns, CommIndex comm = kWorld) {
    const UcpIndex op =
        builder.send(from, to, tag_of(from, tag, comm), 4, static_cast<std::uint64_t>(start_ns));
    builder.ucp(op).asked_by = call(from, "MPI_Send", false, start_ns, comm);
    builder.ucp(op).comm = comm;
    return op;
  }

  // Of all ranks; number 0 of each.
  void make_window() {
    for (const ProcessIndex process : job().logs.indexes()) {
      CommObject window;
      window.comm = kWorld;
      builder.log(process).windows.push_back(window);
    }
  }

  void exits(Rank rank, const char* exit) {
    job().run.processes[rank.place()].exit = texts().intern(exit);
  }
  // A persistent receive of rank 0, by its handle.
  CallIndex made_receive(Rank from, int tag, std::uint64_t request) {
    const CallIndex made = call(0, "MPI_Recv_init", false, 100 + static_cast<int>(request));
    job().calls[made].peer = from.number();
    job().calls[made].tag = tag;
    job().calls[made].request = request;
    return made;
  }

  Json hang() { return hang_json(builder.job); }

  JobBuilder builder;
};

// The log of a process that says nothing new for so long before the others'.
inline JobBuilder::ChangePage ends_earlier(int process, std::uint64_t seconds) {
  return [=](int number, log::ProcessPage& page) {
    // A tick is half a nanosecond.
    const std::uint64_t later = number == process ? 0 : seconds * 1'000'000'000;
    page.anchors[1].tick += 2 * later;
    page.anchors[1].monotonic_ns += later;
    page.anchors[1].realtime_ns += later;
  };
}

inline std::vector<int> cycle(const Json& hang) {
  std::vector<int> ranks;
  for (const Json& step : hang["cycle"]) ranks.push_back(step["rank"].get<int>());
  return ranks;
}

}  // namespace uctrace::merge::test
