// A job whose processes are the ranks of one world, and what they call there. Times are ticks and
// nanoseconds at once.
#pragma once

#include <cstdint>
#include <vector>

#include "tests/unit/job_builder.hpp"

namespace uctrace::merge::test {

struct CalledJob {
  static constexpr CommIndex kWorld{0};

  explicit CalledJob(int ranks) : builder(ranks) {
    CommInstance world;
    world.sides[0].world = 0;
    world.sides[0].size = static_cast<std::uint32_t>(ranks);
    world.sides[0].members = {{0, 1, static_cast<std::uint32_t>(ranks), 0}};
    job().comms.push_back(world);
    for (int rank = 0; rank < ranks; ++rank) {
      Comm comm;
      comm.instance = InstanceIndex(0);
      comm.rank = static_cast<std::uint32_t>(rank);
      ProcessLog& log = builder.log(rank);
      log.world = 0;
      log.comms.push_back(comm);
      log.calls_of_lane.resize(1);
      job().run.processes.emplace_back();
    }
  }

  Job& job() { return builder.job; }

  // On all of them, of 8 bytes.
  CallIndex call(Rank rank, const char* function, std::int64_t start_ns, std::int64_t end_ns) {
    MpiCall row;
    row.process = rank;
    row.function = job().run.texts.intern(function);
    row.start_tick = static_cast<std::uint64_t>(start_ns);
    row.end_tick = static_cast<std::uint64_t>(end_ns);
    row.start_ns = start_ns;
    row.end_ns = end_ns;
    row.bytes = 8;
    row.comm = kWorld;
    const CallIndex index = job().calls.add(row);
    builder.log(rank).calls_of_lane[0].push_back(index);
    MpiCallRow told;
    told.process = static_cast<std::uint32_t>(rank.number());
    told.function = row.function;
    told.t_start_ns = start_ns;
    told.t_end_ns = end_ns;
    job().run.mpi_calls.push_back(told);
    return index;
  }

  // From one call to another one, which takes it.
  struct Sent {
    CallIndex from, to;
    std::int64_t sent_ns, received_ns;
    Match match = Match::exact;
  };
  std::vector<Sent> sent;

  // An operation of UCP in one call, of which only the peer is known; ProcessIndex(): one without a
  // log.
  struct Told {
    CallIndex from;
    Rank to;
  };
  std::vector<Told> told;

  // Once all are known: rows of a process lie together.
  void lay_out_messages() {
    for (const ProcessIndex process : job().logs.indexes()) {
      RowSpan& rows = builder.log(process).ucp_rows;
      rows.begin = job().ucp.size();
      for (const Sent& one : sent) {
        if (job().calls[one.to].process == process) receive_of(one);
      }
      for (const Told& one : told) {
        if (job().calls[one.from].process != process) continue;
        const UcpIndex send =
            builder.send(process, process, 1, 8, job().calls[one.from].start_tick);
        builder.ucp(send).asked_by = builder.ucp(send).call = one.from;
        builder.ucp(send).peer_process = one.to;
      }
      rows.end = job().ucp.size();
    }
  }

  test::JobBuilder builder;

 private:
  void receive_of(const Sent& one) {
    const ProcessIndex from = job().calls[one.from].process, to = job().calls[one.to].process;
    const UcpIndex send = builder.send(from, to, 1, 8, static_cast<std::uint64_t>(one.sent_ns));
    builder.ucp(send).asked_by = one.from;
    const UcpIndex receive = builder.receive(to, 1, 8, static_cast<std::uint64_t>(one.sent_ns));
    UcpOp& op = builder.ucp(receive);
    op.asked_by = op.call = one.to;
    op.end_ns = one.received_ns;
    op.match = one.match;
    if (one.match == Match::exact) op.partner = send;
  }
};

}  // namespace uctrace::merge::test
