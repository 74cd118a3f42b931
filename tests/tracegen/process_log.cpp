#include "tests/tracegen/process_log.hpp"

#include <algorithm>
#include <cstring>

namespace uctrace::tracegen {

const std::vector<const char*> kProtocolNames = {"reconfig",           "amo/post/sw",
                                                 "amo/fetch/sw",       "get/am/bcopy",
                                                 "get/bcopy",          "get/zcopy",
                                                 "put/am/bcopy",       "put/offload/short",
                                                 "put/offload/bcopy",  "put/offload/zcopy",
                                                 "egr/multi/bcopy",    "egrsnc/multi/bcopy",
                                                 "egr/multi/zcopy",    "egr/short",
                                                 "egr/single/bcopy",   "egr/single/zcopy",
                                                 "tag/rndv",           "rndv/am/bcopy",
                                                 "rndv/get/zcopy",     "rndv/ats",
                                                 "rndv/rtr",           "rndv/put/zcopy",
                                                 "am/egr/short",       "am/egr/single/bcopy",
                                                 "am/egr/multi/bcopy", "amo64/fetch64/offload"};

ProcessLog::ProcessLog(const Shape& shape, std::int32_t rank, const std::filesystem::path& path,
                       ProcessTruth& truth)
    : shape_(shape),
      rank_(rank),
      begin_(when::begin_of(shape, rank)),
      clock_(shape.clock_of(shape.host_of(rank))),
      out_(path, shape.options().max_log_bytes),
      stacks_(shape, rank),
      met_(static_cast<std::size_t>(shape.size())),
      connections_(static_cast<std::size_t>(shape.size())),
      truth_(truth) {
  // Streams refer to each other's output: they stay where they are.
  lanes_.reserve(static_cast<std::size_t>(shape.options().lanes));
  for (std::uint16_t i = 0; i < shape.options().lanes; ++i) {
    lanes_.emplace_back(out_, clock_, i, shape.pid(rank) + 100'000u * i);
    lanes_.back().set_call_stacks(&stacks_);
  }
}

log::MemoryId ProcessLog::memory_of(bool on_gpu) const {
  if (!shape_.has_gpu(rank_)) return log::kMemoryNotAsked;
  return on_gpu ? log::kFirstDeviceMemory : log::kHostMemory;
}

std::uint8_t ProcessLog::protocol(const char* name) const {
  if (shape_.options().protocols == 1) return 0;
  const auto found = std::find_if(kProtocolNames.begin(), kProtocolNames.end(),
                                  [&](const char* known) { return std::strcmp(known, name) == 0; });
  return found == kProtocolNames.end()
             ? std::uint8_t{0}
             : static_cast<std::uint8_t>(found - kProtocolNames.begin() + 1);
}

std::vector<log::LaneInfo> ProcessLog::lane_infos() const {
  std::vector<log::LaneInfo> infos;
  for (const Lane& lane : lanes_) {
    log::LaneInfo& info = infos.emplace_back(lane.info());
    const Overwritten lost = out_.overwritten(lane.number());
    std::copy(std::begin(lost.records), std::end(lost.records), info.counters.overwritten);
    info.counters.overwritten_until_tick = lost.until_tick;
  }
  return infos;
}

std::int64_t ProcessLog::overwritten_until_ns() const {
  std::uint64_t tick = 0;
  for (const Lane& lane : lanes_) {
    tick = std::max(tick, out_.overwritten(lane.number()).until_tick);
  }
  return tick == 0 ? -1 : clock_.true_ns(tick);
}

Tally ProcessLog::tally() const {
  Tally sum;
  for (const Lane& lane : lanes_) sum += lane.tally();
  return sum;
}

void ProcessLog::finish(std::int64_t end_ns, bool killed) {
  for (Lane& lane : lanes_) lane.finish();
  log::ProcessPage page{};
  fill_text(page.tool_version, "tracegen");
  fill_text(page.host, shape_.host_name(host()));
  fill_text(page.boot_id, shape_.boot_id(host()));
  fill_text(page.job, "tracegen." + std::to_string(shape_.seed()));
  page.pid_namespace = 4026531836;
  page.time_namespace = 4026531834;
  page.pid = shape_.pid(rank_);
  page.parent_pid = 1;
  page.start_time = shape_.start_time(rank_);
  page.clock = log::Clock::tsc;
  for (std::size_t i = 0; i < log::kLayers; ++i) page.layers[i] = log::LayerState::on;
  if (!shape_.has_gpu(rank_)) {
    page.layers[static_cast<std::size_t>(log::Layer::gpu)] = log::LayerState::unused;
  }
  page.exit = killed ? log::ExitKind::running : log::ExitKind::finalized;
  page.closed = killed ? 0 : 1;
  page.gpu_driver = shape_.has_gpu(rank_);
  page.world_rank = page.launch_rank = shape_.world_rank(rank_);
  page.world_size = page.launch_size = shape_.world_size(rank_);
  page.anchor_count = 2;
  page.anchors[0] = clock_.anchor(begin_.anchor_ns);
  page.anchors[1] = clock_.anchor(end_ns);
  page.storage = log::Storage::drained;
  const Stacks stacks = shape_.options().stacks;
  if (stacks >= Stacks::mpi) {
    page.stacks = stacks == Stacks::all ? log::StackMode::all : log::StackMode::mpi;
    page.unwinder = log::Unwinder::libunwind;
  }
  page.file_system = 0xef53;
  out_.finish(page, lane_infos());
}

}  // namespace uctrace::tracegen
