// The log of one process while it is made: its threads, and the definitions that its records need.
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

// When what every process does at its beginning and end happens, in true time. The job's clock is
// zero at its first anchor: that of rank 0, which comes before the others beyond all doubt.
namespace when {
inline constexpr std::int64_t kFirstAnchor = 0, kLaterAnchor = 50'000, kInit = 100'000,
                              kDefined = 500'000, kClocks = 700'000, kClockTurn = 40'000;
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
  void define_end_of_window(std::int64_t at_ns);
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
  Tally tally() const;

 private:
  void text(log::TextKind kind, std::uint64_t id, std::string_view text, std::int64_t at_ns);
  void define_interfaces();
  void define_gpu();
  void define_communicators();
  void define_datatype(std::uint64_t handle, const char* name, log::Combiner combiner,
                       std::uint64_t size, std::int64_t extent, bool contiguous);

  const Shape& shape_;
  std::int32_t rank_;
  HostClock clock_;
  LogOutput out_;
  std::vector<Lane> lanes_;
  std::vector<std::uint8_t> met_;  // by peer: bits of interfaces with an endpoint to it; 1: UCP's
  ProcessTruth& truth_;
  std::int64_t step_ns_ = INT64_MAX;
};

// UCP's own names of protocols, by their number from 1 on.
extern const std::vector<const char*> kProtocolNames;

}  // namespace uctrace::tracegen
