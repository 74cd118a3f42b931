#include "log-merger/summaries/call_parts.hpp"

#include <map>
#include <string_view>

namespace uctrace {

namespace {

constexpr std::string_view kOfWorld[] = {"MPI_Init", "MPI_Init_thread", "MPI_Finalize"};

}  // namespace

CallParts::CallParts(const RowSource& source)
    : source_(source), is_of_world_(source.run().texts.all().size()) {
  const Run& run = source.run();
  std::map<std::int32_t, std::int32_t> communicator_of_world;
  for (std::size_t i = 0; i < run.communicators.size(); ++i) {
    const Communicator& comm = run.communicators[i];
    if (run.texts[comm.name].starts_with('W')) {
      communicator_of_world.try_emplace(comm.world, static_cast<std::int32_t>(i));
    }
  }
  for (const Process& process : run.processes) {
    const auto found = communicator_of_world.find(process.world);
    world_of_process_.push_back(found == communicator_of_world.end() ? -1 : found->second);
  }
  for (TextId id = 0; id < is_of_world_.size(); ++id) {
    is_of_world_[id] =
        std::find(std::begin(kOfWorld), std::end(kOfWorld), run.texts[id]) != std::end(kOfWorld);
  }
}

std::int32_t CallParts::communicator_of(const MpiCallRow& call) const {
  return call.communicator < 0 && is_of_world_[call.function] ? world_of_process_[call.process]
                                                              : call.communicator;
}

}  // namespace uctrace
