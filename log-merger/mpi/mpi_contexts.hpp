// The communicators of contexts in tags: calls on a communicator reveal its context. Private to the
// linking of MPI calls.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "log-merger/mpi/tag_layout.hpp"

namespace uctrace::merge {

class Contexts {
 public:
  explicit Contexts(const ProcessLog& log) : log_(log) {}

  void learn(const DecodedTag& tag, CommIndex comm) {
    std::vector<Learned>& known = comms_[context_of(tag)];
    if (known.empty() || known.back().comm != comm) {
      const Comm& row = log_.comms[comm];
      known.push_back({row.tick, row.freed_tick, comm});
    }
  }

  // kNone: not known.
  CommIndex comm_at(const DecodedTag& tag, std::uint64_t tick) const {
    const auto known = comms_.find(context_of(tag));
    if (known == comms_.end()) return kNone;
    for (auto learned = known->second.rbegin(); learned != known->second.rend(); ++learned) {
      if (learned->since_tick <= tick && tick <= learned->until_tick) return learned->comm;
    }
    return kNone;
  }

  // Files have their own contexts, which nobody else uses before they are closed.
  void give_to_file(const DecodedTag& tag, CallIndex call) { files_[context_of(tag)] = call; }
  void take_from_file(const DecodedTag& tag) { files_.erase(context_of(tag)); }
  // The newest call with this context on a file; kNone: it belongs to no file.
  CallIndex call_on_file(const DecodedTag& tag) const {
    const auto found = files_.find(context_of(tag));
    return found == files_.end() ? kNone : found->second;
  }

 private:
  struct Learned {
    std::uint64_t since_tick, until_tick;  // contexts are reused after a communicator is freed
    CommIndex comm;
  };

  // In MPICH, point-to-point and collective traffic of one communicator have adjacent contexts.
  std::uint64_t context_of(const DecodedTag& tag) const {
    return log_.flavour == MpiFlavour::mpich ? tag.context & ~std::uint64_t{1} : tag.context;
  }

  const ProcessLog& log_;
  std::unordered_map<std::uint64_t, std::vector<Learned>> comms_;
  std::unordered_map<std::uint64_t, CallIndex> files_;
};

}  // namespace uctrace::merge
