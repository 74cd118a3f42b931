// What the parts of a full receipt (full_receipt.cpp) know of the message and how they call things.
// Private to these.
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
  // "rank 1", as the list of messages names it.
  std::string party(Side side) const {
    return party_text(labels_, side == Side::src ? source_of(message_) : destination_of(message_));
  }
  bool one_sided() const { return is_one_sided(message_.kind); }
  // Also between two containers of one host, whose clocks may differ.
  bool wall_clocks_join() const {
    return message_.src_process >= 0 && message_.dst_process >= 0 && message_.t_error_ns < 0;
  }
  // The last operation of the hop was short: when it was posted is known, not when it was over.
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
// Which calls made memory known for it, and how long they took; empty if none did.
std::string registration_text(const ReceiptPart& part, std::span<const MemoryCallRow> calls);
// Which connections it was the first to use, and how long it waited for them; empty if for none.
std::string connections_text(const ReceiptPart& part, std::span<const ConnectionRow> connections);
// When what happened to it, a line each, in their order, behind a first one: since when. Empty if
// no time is known.
std::string timeline_text(const ReceiptPart& part);

}  // namespace uctrace
