// Shared by the parts of a full receipt (full_receipt.cpp): the message's facts and names. Private
// to these.
#pragma once

#include <algorithm>
#include <span>
#include <string>

#include "log-merger/reports/messages_output.hpp"
#include "log-merger/reports/receipt_words.hpp"

namespace uctrace {

inline std::uint64_t distance(std::int64_t from, std::int64_t to) {
  return static_cast<std::uint64_t>(to - from);
}

class ReceiptPart {
 public:
  ReceiptPart(const Run& run, const Labels& labels, const MessageWithPath& told)
      : run_(run), labels_(labels), message_(told.message), hops_(told.path) {}

 protected:
  const std::string& word(TextId id) const { return run_.texts[id]; }
  // "rank 1", as in the list of messages.
  std::string party(Side side) const {
    return party_text(labels_, side == Side::src ? source_of(message_) : destination_of(message_));
  }
  bool one_sided() const { return is_one_sided(message_.kind); }
  // Also for two containers of one host, whose clocks may differ.
  bool wall_clocks_join() const {
    return message_.src_process >= 0 && message_.dst_process >= 0 && message_.t_error_ns < 0;
  }
  // The last operation of the hop was short: its post time is known, but not its end.
  static const char* least(const Hop& hop) {
    return hop.t_last_from == TimeFrom::clock ? "" : "at least ";
  }

  const Run& run_;
  const Labels& labels_;
  const Message& message_;
  const std::span<const Hop> hops_;
};

// What the message waited for, in sentences; empty if that is not known.
std::string waiting_text(const ReceiptPart& part);
// Its registration calls and their time; empty if there are none.
std::string registration_text(const ReceiptPart& part, std::span<const MemoryCallRow> calls);
// The connections that it used first, and its wait for them; empty if there are none.
std::string connections_text(const ReceiptPart& part, std::span<const ConnectionRow> connections);
// Its events in order of time, a line each, after a first line with the origin of the times. Empty
// if no time is known.
std::string timeline_text(const ReceiptPart& part);

}  // namespace uctrace
