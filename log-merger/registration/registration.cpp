#include "log-merger/registration/registration.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <unordered_map>

namespace uctrace::merge {

namespace {

using log::MemoryAction;

// Memory of which a domain ever had a registration, as ranges that do not touch.
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

class ProcessCalls {
 public:
  ProcessCalls(Job& job, ProcessIndex process)
      : job_(job), log_(job.logs[process]), calls_(log_.memory_calls.calls) {}

  void link() {
    if (calls_.empty()) return;
    name_domains();
    find_inner_calls();
    std::sort(calls_.begin(), calls_.end(), [](const MemoryCall& a, const MemoryCall& b) {
      return std::tie(a.start_tick, a.lane) < std::tie(b.start_tick, b.lane);
    });
    pair_ends();
    find_first_uses();
    find_operations();
  }

 private:
  void name_domains() {
    for (MemoryCall& call : calls_) {
      const auto names = log_.memory_calls.domains.find(call.domain);
      if (names == log_.memory_calls.domains.end()) continue;
      // The name is told right after the call has begun.
      for (const DomainName& one : names->second) {
        if (one.tick <= call.end_tick || call.domain_name == kNoText) call.domain_name = one.name;
      }
    }
  }

  // A call inside another one of its thread begins later and ends sooner.
  void find_inner_calls() {
    std::sort(calls_.begin(), calls_.end(), [](const MemoryCall& a, const MemoryCall& b) {
      return std::tie(a.lane, a.start_tick, b.end_tick) <
             std::tie(b.lane, b.start_tick, a.end_tick);
    });
    std::vector<const MemoryCall*> around;
    for (MemoryCall& call : calls_) {
      while (!around.empty() &&
             (around.back()->lane != call.lane || around.back()->end_tick < call.end_tick)) {
        around.pop_back();
      }
      call.outermost = around.empty();
      if (!around.empty()) {
        const MemoryCall& outer = *around.back();
        call.repeats = outer.action() == call.action() && outer.domain == call.domain;
      }
      around.push_back(&call);
    }
  }

  // A domain may give one handle to all its registrations: each end is that of its oldest one.
  void pair_ends() {
    std::map<std::pair<std::uint64_t, std::uint64_t>, std::deque<MemoryCall*>> open;
    MemoryCalls& all = log_.memory_calls;
    for (MemoryCall& call : calls_) {
      const auto handle = std::pair(call.domain, call.key);
      if (call.begins()) open[handle].push_back(&call);
      if (!call.ends()) continue;
      ++all.ends;
      const auto at = open.find(handle);
      if (at == open.end() || at->second.empty()) continue;
      ++all.matched_ends;
      at->second.front()->until_tick = call.start_tick;
      at->second.pop_front();
    }
  }

  void find_first_uses() {
    std::map<TextId, KnownRanges> known;  // by domain
    for (MemoryCall& call : calls_) {
      if (!call.succeeded() || call.action() != MemoryAction::registration || call.bytes == 0) {
        continue;
      }
      const std::uint64_t last = call.address + (call.bytes - 1);
      if (last < call.address || last == UINT64_MAX) continue;  // of a damaged log
      const bool is_new = known[call.domain_name].add(call.address, last + 1);
      call.first_use = is_new && !call.repeats;
    }
  }

  // Made in the call of an operation, or on its behalf later; or for an arrival, as transfers were
  // whose operation is known.
  void find_operations() {
    const std::unordered_map<log::Id, UcpIndex> by_arrival = operations_of_arrivals();
    for (MemoryCall& call : calls_) {
      if (call.route == log::Route::blocking) continue;  // whose progress serves anybody
      if (call.origin_kind == log::Origin::ucp) {
        if (const auto at = log_.ucp_by_id.find(call.origin); at != log_.ucp_by_id.end()) {
          call.serves = at->second;
          call.link = Link::exact;
        }
      } else if (call.origin_kind == log::Origin::arrival) {
        if (const auto at = by_arrival.find(call.origin); at != by_arrival.end()) {
          call.serves = at->second;
          call.link = Link::inferred;
        }
      }
    }
  }

  std::unordered_map<log::Id, UcpIndex> operations_of_arrivals() const {
    std::unordered_map<log::Id, UcpIndex> operations;
    for (const MemoryCall& call : calls_) {
      if (call.origin_kind == log::Origin::arrival) operations.emplace(call.origin, kNone);
    }
    if (operations.empty()) return operations;
    for (std::size_t i = log_.uct_rows.begin; i < log_.uct_rows.end; ++i) {
      const UctOp& op = job_.uct[i];
      if (op.origin_kind != log::Origin::arrival || op.serves == kNone) continue;
      const auto at = operations.find(op.origin);
      if (at != operations.end() && at->second == kNone) at->second = op.serves;
    }
    std::erase_if(operations, [](const auto& one) { return one.second == kNone; });
    return operations;
  }

  Job& job_;
  ProcessLog& log_;
  std::vector<MemoryCall>& calls_;
};

}  // namespace

void link_memory_calls(Job& job) {
  job.workers.each(job.logs.size(),
                   [&](std::size_t i) { ProcessCalls(job, ProcessIndex(i)).link(); });
}

}  // namespace uctrace::merge
