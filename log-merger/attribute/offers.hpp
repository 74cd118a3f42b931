// Buffers that peers offered for a rendezvous, for reading or writing. Private to
// log-merger/attribute/.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "log-merger/job/job.hpp"
#include "log-merger/model/first_fit.hpp"

namespace uctrace::merge {

// [address, address + length) until superseded.
struct Offer {
  std::int64_t since_ns;
  ProcessIndex process;  // it was offered to
  bool to_fetch;
  ProcessIndex peer;  // kNone: not known
  std::uint64_t address, length;
  UcpIndex serves;
};

class OfferTable {
 public:
  void add(const Offer& offer) { offers_.push_back(offer); }

  // After it, find() may be used.
  void seal() {
    std::stable_sort(offers_.begin(), offers_.end(),
                     [](const Offer& a, const Offer& b) { return a.since_ns > b.since_ns; });
    for (const Offer& offer : offers_) {
      for (const ProcessIndex peer : {kAnyPeer, offer.peer}) {
        Group& group = groups_[{offer.process, offer.to_fetch, peer}];
        group.offers.push_back(static_cast<std::size_t>(&offer - offers_.data()));
        group.fits.add({offer.since_ns, offer.address, offer.address + offer.length});
      }
    }
  }

  // The operation of the newest offer that contains the range.
  UcpIndex find(const UctOp& op, ProcessIndex peer) {
    std::size_t newest = newest_in(op, peer == kNone ? kAnyPeer : peer);
    if (peer != kNone) {
      newest = std::min(newest, newest_in(op, kNone));
    }
    return newest == FirstFit::kNothing ? kNone : offers_[newest].serves;
  }

 private:
  static constexpr ProcessIndex kAnyPeer{-2};
  struct Group {
    std::vector<std::size_t> offers;  // into offers_
    FirstFit fits;
  };

  std::size_t newest_in(const UctOp& op, ProcessIndex peer) {
    const auto found = groups_.find({op.process, op.fetches(), peer});
    if (found == groups_.end()) {
      return FirstFit::kNothing;
    }
    const std::size_t place = found->second.fits.find(op.start_ns, op.remote, op.remote + op.bytes);
    return place == FirstFit::kNothing ? place : found->second.offers[place];
  }

  std::vector<Offer> offers_;  // sealed: the newest first
  std::map<std::tuple<ProcessIndex, bool, ProcessIndex>, Group> groups_;
};

}  // namespace uctrace::merge
