#include "log-merger/exports/otf2_communicators.hpp"

namespace uctrace::exports {
namespace {

std::uint64_t world_and_rank(std::int32_t world, std::int32_t rank) {
  return std::uint64_t{static_cast<std::uint32_t>(world)} << 32 | static_cast<std::uint32_t>(rank);
}

std::string name_of(const Run& run, const Communicator& communicator) {
  const std::string& name = run.texts[communicator.name];
  if (communicator.user_name == kNoText) return name;
  return run.texts[communicator.user_name] + " (" + name + ")";
}

}  // namespace

Otf2Communicators::Otf2Communicators(const Run& run) : run_(run) {
  Entry all{"all processes", OTF2_UNDEFINED_COMM, {}, {}};
  for (std::uint32_t i = 0; i < run.processes.size(); ++i) {
    const Process& process = run.processes[i];
    all.members.push_back(i);
    all.ranks.emplace(i, i);
    if (process.rank >= 0) process_of_.emplace(world_and_rank(process.world, process.rank), i);
  }
  entries_.push_back(std::move(all));
  for (const Communicator& communicator : run.communicators) {
    const bool added = add(run, communicator);
    of_row_.push_back(added ? static_cast<OTF2_CommRef>(entries_.size() - 1) : OTF2_UNDEFINED_COMM);
  }
}

bool Otf2Communicators::add(const Run& run, const Communicator& communicator) {
  if (!communicator.complete || communicator.remote_size != 0) return false;
  // A parent that is defined later is left out.
  Entry entry{name_of(run, communicator), of(communicator.parent), {}, {}};
  for (std::uint32_t i = 0; i < communicator.members; ++i) {
    const MemberRun& members = run.communicator_members[communicator.first_member + i];
    std::int32_t rank = members.first;
    for (std::uint32_t j = 0; j < members.count; ++j, rank += members.stride) {
      const auto process = process_of_.find(world_and_rank(communicator.world, rank));
      if (process == process_of_.end()) return false;  // it left no log
      entry.ranks.emplace(process->second, static_cast<std::uint32_t>(entry.members.size()));
      entry.members.push_back(process->second);
    }
  }
  if (entry.members.size() != communicator.size) return false;
  entries_.push_back(std::move(entry));
  return true;
}

OTF2_CommRef Otf2Communicators::of(std::int32_t communicator) const {
  const auto row = static_cast<std::size_t>(communicator);
  return communicator < 0 || row >= of_row_.size() ? OTF2_UNDEFINED_COMM : of_row_[row];
}

OTF2_CommRef Otf2Communicators::common(std::int32_t communicator, std::int32_t a,
                                       std::int32_t b) const {
  const OTF2_CommRef comm = of(communicator);
  if (comm == OTF2_UNDEFINED_COMM) return kAll;
  const auto& ranks = entries_[comm].ranks;
  const bool has_both = ranks.contains(static_cast<std::uint32_t>(a)) &&
                        ranks.contains(static_cast<std::uint32_t>(b));
  return has_both ? comm : kAll;
}

std::uint32_t Otf2Communicators::rank(OTF2_CommRef comm, std::int32_t process) const {
  return entries_[comm].ranks.at(static_cast<std::uint32_t>(process));
}

std::uint32_t Otf2Communicators::rank_of_world_rank(OTF2_CommRef comm,
                                                    std::int32_t world_rank) const {
  const Entry& entry = entries_[comm];
  if (world_rank < 0 || entry.members.empty()) return OTF2_UNDEFINED_UINT32;
  const std::int32_t world = run_.processes[entry.members.front()].world;
  const auto process = process_of_.find(world_and_rank(world, world_rank));
  if (process == process_of_.end()) return OTF2_UNDEFINED_UINT32;
  const auto found = entry.ranks.find(process->second);
  return found == entry.ranks.end() ? OTF2_UNDEFINED_UINT32 : found->second;
}

}  // namespace uctrace::exports
