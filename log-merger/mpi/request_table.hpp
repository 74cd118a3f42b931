// The calls that made and started the requests passed to a call. Private to the requests' and the
// operations' attribution.
//
// A handle may be reused once the call that ended its request has begun. So in a call, a handle
// means the request made by the newest call that had returned before. But libraries use one handle
// for all sends that were complete at return: which of these ended is known only if there is no
// choice among the open ones.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// How a function uses the request in its record.
enum class RequestUse : std::uint8_t { none, makes, starts, names, frees, waits };

class RequestUses {
 public:
  explicit RequestUses(const Job& job) : job_(job) {}

  RequestUse operator()(const MpiCall& call);
  // Whether it makes persistent requests, which no wait ends.
  bool makes_persistent(const MpiCall& call);
  // Whether it tests one request, which may go on.
  bool is_single_test(const MpiCall& call);

 private:
  struct Known {
    RequestUse use = RequestUse::none;
    bool persistent = false;
    bool single_test = false;
  };
  const Known& of(const MpiCall& call);

  const Job& job_;
  std::unordered_map<TextId, Known> known_;
};

// MPI_Pready and the like, which are among the calls that start requests.
bool readies_partitions(const Job& job, const MpiCall& call);

// The requests of one process.
class RequestTable {
 public:
  RequestTable(const Job& job, const ProcessLog& log, RequestUses& uses);

  // All requests passed to a call; and those that a wait's time belongs to: the ones that it ended,
  // else the ones that it asked about.
  std::vector<std::uint64_t> given(CallIndex index) const;
  std::vector<std::uint64_t> waited_for(CallIndex call) const;
  // The requests known to have ended in it; for a single test without an answer, the one that may
  // have.
  std::vector<std::uint64_t> ended_by(CallIndex index, RequestUse use) const;

  // Whether it stands for several requests at a time: libraries do that for requests that were
  // complete when made.
  bool is_shared(std::uint64_t handle) const { return shared_.contains(handle); }

  // The call that made each of them; kNone: not known. Null requests are left out.
  std::vector<CallIndex> makers(CallIndex call, const std::vector<std::uint64_t>& handles) const;
  // The call that last started the persistent request that `maker` made; else kNone.
  CallIndex starter(CallIndex maker, std::uint64_t tick) const;

 private:
  // A call from which on the handle stands for the request that it made or started.
  struct HandleUse {
    std::uint64_t handle, tick;
    CallIndex call;
  };
  using Handles = std::vector<std::uint64_t>;
  // Requests that begin or end. All handles share one list: separate lists for some hundred
  // thousand events would take longer than everything else here.
  struct Event {
    std::uint64_t tick;
    CallIndex call;
    bool makes;
    std::uint32_t first, count;
  };
  struct Events {
    std::vector<Event> all;
    Handles handles;

    std::span<const std::uint64_t> handles_of(const Event& event) const {
      return std::span(handles).subspan(event.first, event.count);
    }
  };

  const MpiCall& call(CallIndex index) const { return job_.calls[index]; }
  static CallIndex at(const Rows<HandleUse>& uses, std::uint64_t handle, std::uint64_t tick);
  void add(CallIndex index, RequestUse use);
  Events find_events(RequestUses& uses);
  void add_given(CallIndex index, Handles& handles) const;
  void add_waited_for(CallIndex index, Handles& handles) const;
  void add_ended_by(CallIndex index, RequestUse use, Handles& handles) const;
  void find_shared_handles(const Events& events, RequestUses& uses);
  void follow_shared_handles(const Events& events);
  std::vector<CallIndex> take(std::vector<CallIndex>& open, std::size_t count) const;

  const Job& job_;
  const ProcessLog& log_;
  Rows<HandleUse> made_, started_;
  std::unordered_set<std::uint64_t> shared_;  // handles that several requests had at a time
  // By ending call: the makers of its shared handles.
  std::unordered_map<CallIndex, std::unordered_map<std::uint64_t, std::vector<CallIndex>>>
      of_shared_;
};

}  // namespace uctrace::merge
