// The log of one process while it is generated: its threads, and the definitions that its records
// need.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>
#include <vector>

#include "tests/tracegen/lane.hpp"
#include "tests/tracegen/mpi_functions.hpp"
#include "tests/tracegen/shape.hpp"
#include "tests/tracegen/truth.hpp"

namespace uctrace::tracegen {

// The true times of what every process does at its start and end. The job's clock is zero at its
// first anchor: that of rank 0, which certainly precedes the others.
namespace when {
inline constexpr std::int64_t kSpawn = 600'000, kSpawnTook = 400'000, kClockTurn = 40'000;
inline std::int64_t clocks(const Shape& shape) {
  return shape.options().spawned == 0 ? 700'000 : 1'200'000;
}
// A spawned process begins while the others are in MPI_Comm_spawn.
struct Begin {
  std::int64_t anchor_ns, init_ns, defined_ns;
};
inline Begin begin_of(const Shape& shape, std::int32_t rank) {
  if (shape.is_spawned(rank)) return {620'000, 650'000, 800'000};
  return {rank == 0 ? 0 : 50'000, 100'000, 500'000};
}
}  // namespace when

class ProcessLog {
 public:
  ProcessLog(const Shape& shape, std::int32_t rank, const std::filesystem::path& path,
             ProcessTruth& truth);

  const Shape& shape() const { return shape_; }
  std::int32_t rank() const { return rank_; }
  std::int32_t host() const { return shape_.host_of(rank_); }
  Lane& lane(std::uint16_t number) { return lanes_[number]; }
  std::uint16_t lanes() const { return static_cast<std::uint16_t>(lanes_.size()); }
  ProcessTruth& truth() { return truth_; }
  const HostClock& clock() const { return clock_; }

  // What the process is, has opened and made, up to the end of MPI_Init.
  void define_process();
  // The threads of a process are made one after the other, step by step: what one of them defines
  // must be there before any of them uses it.
  void begin_step(std::int64_t at_ns) { step_ns_ = at_ns; }
  // The endpoint to a peer, defined before it is first used.
  std::uint64_t uct_endpoint(std::uint16_t interface, std::int32_t peer, std::int64_t at_ns);
  std::uint64_t ucp_endpoint(std::int32_t peer, std::int64_t at_ns);
  // The same of an endpoint made by socket address. From time to time it is created again, with the
  // same addresses and the same handle.
  std::uint64_t connected_endpoint(std::int32_t peer, std::uint64_t step, std::int64_t at_ns);
  void define_end_of_window(std::int64_t at_ns);
  void define_file(Comm comm, std::int64_t at_ns);
  void define_end_of_file(Comm comm, std::int64_t at_ns);
  void define_clock_sample(std::int32_t host, log::ClockSample::End end, std::int64_t at_ns);
  void define_tool_traffic(std::int64_t begin_ns, std::int64_t end_ns, std::uint64_t sends);

  // The memory of a buffer, as operations name it; 0 where no driver is asked.
  log::MemoryId memory_of(bool on_gpu) const;
  std::uint8_t protocol(const char* name) const;

  // Ends the log. `killed`: its process did not.
  void finish(std::int64_t end_ns, bool killed);
  std::uint64_t cut(std::uint64_t bytes) { return out_.cut(bytes); }
  std::uint64_t size() const { return out_.size(); }
  std::vector<log::LaneInfo> lane_infos() const;
  // True time up to which events may be overwritten; -1: none are.
  std::int64_t overwritten_until_ns() const;
  Tally tally() const;

 private:
  void text(log::TextKind kind, std::uint64_t id, std::string_view text, std::int64_t at_ns);
  void define_interfaces();
  void define_gpu();
  struct NewComm;
  void define_communicators();
  void define_communicator(const NewComm& comm);
  void make_communicator(NewComm comm, std::int64_t took_ns);
  void define_parent(NewComm all);
  void join_halves(NewComm half);
  void define_window(std::int64_t at_ns);
  void define_datatype(std::uint64_t handle, const char* name, log::Combiner combiner,
                       std::uint64_t size, std::int64_t extent, bool contiguous);

  const Shape& shape_;
  std::int32_t rank_;
  when::Begin begin_;
  HostClock clock_;
  LogOutput out_;
  CallStacks stacks_;
  std::vector<Lane> lanes_;
  std::vector<std::uint8_t> met_;  // by peer: bits of interfaces with an endpoint to it; 1: UCP's
  std::vector<std::uint64_t> connections_;  // by peer: how many there were
  ProcessTruth& truth_;
  std::int64_t step_ns_ = INT64_MAX;
};

// UCP's own names of protocols, by their number from 1 on.
extern const std::vector<const char*> kProtocolNames;

}  // namespace uctrace::tracegen
