#include "log-merger/summaries/call_parts.hpp"

#include <map>

#include "log-merger/model/mpi_names.hpp"

namespace uctrace {

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
    is_of_world_[id] = starts_or_ends_world(run.texts[id]);
  }
}

// A wait belongs to the part of its communicator, or to the longest part if there is none.
void CallParts::divide(const MpiCallRow& call, const std::vector<WaitShare>& shares,
                       const std::vector<Wait>& waits, std::vector<CallPart>& parts) const {
  parts.clear();
  std::size_t longest = 0;
  if (shares.empty()) parts.push_back({call, communicator_of(call), duration_of(call), false});
  for (const WaitShare& share : shares) {
    const auto ns = static_cast<std::uint64_t>(std::max<std::int64_t>(share.ns, 0));
    parts.push_back({call, share.communicator, ns, false});
    if (ns > parts[longest].ns) longest = parts.size() - 1;
  }
  parts[longest].counts = true;
  for (const Wait& wait : waits) {
    if (wait.kind == WaitKind::wait_finalize) continue;  // apart from all totals
    const auto own = std::find_if(parts.begin(), parts.end(), [&](const CallPart& part) {
      return part.communicator == wait.communicator;
    });
    CallPart& part = own == parts.end() ? parts[longest] : *own;
    if (is_waiting(wait.kind)) part.waiting_ns += static_cast<std::uint64_t>(wait.ns);
    part.unknown_ns += static_cast<std::uint64_t>(wait.unknown_ns);
  }
}

std::int32_t CallParts::communicator_of(const MpiCallRow& call) const {
  return call.communicator < 0 && is_of_world_[call.function] ? world_of_process_[call.process]
                                                              : call.communicator;
}

}  // namespace uctrace
