#include "log-merger/registration/call_rules.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <utility>

namespace uctrace::merge {

namespace {

// Memory that a domain ever had registered, as disjoint ranges.
class KnownRanges {
 public:
  // Whether no byte of [begin, end) was known before.
  bool add(std::uint64_t begin, std::uint64_t end) {
    auto at = ranges_.upper_bound(begin);
    if (at != ranges_.begin() && std::prev(at)->second > begin) --at;
    const bool is_new = at == ranges_.end() || at->first >= end;
    while (at != ranges_.end() && at->first < end) {
      begin = std::min(begin, at->first);
      end = std::max(end, at->second);
      at = ranges_.erase(at);
    }
    ranges_.emplace(begin, end);
    return is_new;
  }

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;
};

}  // namespace

void find_inner_calls(std::vector<MemoryCall>& calls) {
  std::sort(calls.begin(), calls.end(), [](const MemoryCall& a, const MemoryCall& b) {
    return std::tie(a.lane, a.start_tick, b.end_tick) < std::tie(b.lane, b.start_tick, a.end_tick);
  });
  std::vector<const MemoryCall*> around;
  for (MemoryCall& call : calls) {
    while (!around.empty() &&
           (around.back()->lane != call.lane || around.back()->end_tick < call.end_tick)) {
      around.pop_back();
    }
    call.outermost = around.empty();
    if (!around.empty()) {
      const MemoryCall& outer = *around.back();
      call.repeats = outer.action() == call.action() && outer.domain == call.domain &&
                     outer.address == call.address && outer.bytes == call.bytes;
    }
    around.push_back(&call);
  }
}

PairedEnds pair_ends(std::vector<MemoryCall>& calls) {
  std::sort(calls.begin(), calls.end(), [](const MemoryCall& a, const MemoryCall& b) {
    return std::tie(a.start_tick, a.lane) < std::tie(b.start_tick, b.lane);
  });
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::deque<MemoryCall*>> open;
  PairedEnds paired;
  for (MemoryCall& call : calls) {
    const auto handle = std::pair(call.domain, call.key);
    if (call.begins()) open[handle].push_back(&call);
    if (!call.ends()) continue;
    ++paired.ends;
    const auto at = open.find(handle);
    if (at == open.end() || at->second.empty()) {
      paired.unmatched.push_back(&call);
      continue;
    }
    at->second.front()->until_tick = call.start_tick;
    at->second.pop_front();
  }
  return paired;
}

void find_first_uses(std::vector<MemoryCall>& calls) {
  std::map<TextId, KnownRanges> known;  // by domain
  for (MemoryCall& call : calls) {
    if (!call.succeeded() || call.action() != log::MemoryAction::registration || call.bytes == 0 ||
        call.repeats) {
      continue;
    }
    const std::uint64_t last = call.address + (call.bytes - 1);
    if (last < call.address || last == UINT64_MAX) continue;  // of a damaged log
    call.first_use = known[call.domain_name].add(call.address, last + 1);
  }
}

}  // namespace uctrace::merge
