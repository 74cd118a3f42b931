// Waits of calls that are given requests.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "log-merger/hang/needs.hpp"
#include "log-merger/model/mpi_names.hpp"
#include "log-merger/mpi/mpi_call_kind.hpp"
#include "log-merger/mpi/operation_of_request.hpp"

namespace uctrace::merge {

void NeedFinder::add_requests(CallIndex index, Waiting& waiting) {
  const std::string base = parse_mpi_name(function(index)).base;
  waiting.any = base == "waitany" || base == "waitsome" || base == "testany" || base == "testsome";
  const RequestTable& requests = requests_of(call(index).process);
  const std::vector<std::uint64_t> given = requests.given(index);
  if (given.empty()) {
    waiting.unknown = "which requests it was given is not recorded";
    return;
  }
  bool one_is_over = false;
  for (const CallIndex maker : requests.makers(index, given)) {
    if (maker == kNone) {
      waiting.unknown = "which call made one of its requests is not recorded";
      continue;
    }
    if (uses_.makes_persistent(call(maker)) &&
        requests.starter(maker, call(index).start_tick) == kNone) {
      continue;  // it was not started
    }
    Waiting for_one;
    add_request(maker, index, for_one);
    one_is_over = one_is_over || (for_one.waits.empty() && for_one.unknown.empty());
    std::move(for_one.waits.begin(), for_one.waits.end(), std::back_inserter(waiting.waits));
    if (!for_one.unknown.empty()) waiting.unknown = std::move(for_one.unknown);
    if (!for_one.on_its_way.empty()) waiting.on_its_way = std::move(for_one.on_its_way);
  }
  if (waiting.any && one_is_over) waiting.waits.clear();
}

void NeedFinder::add_request(CallIndex maker, CallIndex waits, Waiting& waiting) {
  if (call_traits(function(maker)).partitioned) return add_partitioned(maker, waiting);
  if (collective_kind(function(maker)) != CollectiveKind::none) {
    return add_collective(maker, waiting);
  }
  const RequestTable& requests = requests_of(call(maker).process);
  const CallIndex starter = requests.starter(maker, call(waits).start_tick);
  if (starter == kNone) {
    const Operations& own = operations_[maker];
    return own.known ? add_operations(own.all, waiting) : add_message_call(maker, waiting);
  }
  const std::vector<UcpIndex> own = operations_of(starter, maker);
  if (own.empty()) return add_message_call(maker, waiting);
  const std::size_t before = waiting.waits.size();
  add_operations(own, waiting);
  if (!may_be_for_another(own, starter, maker)) return;
  for (std::size_t i = before; i < waiting.waits.size(); ++i) {
    std::string& unsure = waiting.waits[i].unsure;
    if (unsure.empty()) {
      unsure = fmt::format("{} also started a request that is like this one", function(starter));
    }
  }
}

std::vector<UcpIndex> NeedFinder::operations_of(CallIndex asked_by, CallIndex maker) {
  std::vector<UcpIndex> own;
  for (const UcpIndex index : operations_[asked_by].all) {
    if (may_be_for(job_, job_.ucp[index], call(maker))) own.push_back(index);
  }
  return own;
}

bool NeedFinder::may_be_for_another(const std::vector<UcpIndex>& operations, CallIndex starter,
                                    CallIndex maker) const {
  const auto& started = job_.logs[call(maker).process].makers_of_started;
  const auto makers = started.find(starter);
  if (makers == started.end()) return function(starter) != "MPI_Start";
  return std::any_of(makers->second.begin(), makers->second.end(), [&](CallIndex other) {
    return other != maker &&
           (other == kNone ||
            std::any_of(operations.begin(), operations.end(), [&](UcpIndex index) {
              return may_be_for(job_, job_.ucp[index], call(other));
            }));
  });
}

}  // namespace uctrace::merge
