// The part of a full receipt about time: the message's waits and events.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "log-merger/reports/receipt_part.hpp"

namespace uctrace {
namespace {

std::string offset_text(std::int64_t ns) {
  if (ns == 0) return "0";
  const auto size = static_cast<std::uint64_t>(ns < 0 ? -ns : ns);
  return (ns < 0 ? "-" : "+") + format_duration(size);
}

class Times : ReceiptPart {
 public:
  explicit Times(const ReceiptPart& part) : ReceiptPart(part) {}

  std::string waiting() const {
    std::int64_t ready = message_.t_start_ns;
    std::string text = waiting_for_receiver(ready);
    const auto add = [&](const std::string& sentence) {
      text += (text.empty() ? "" : " ") + sentence;
    };
    const auto [first, last] = data_span();
    if (ready >= 0 && first >= ready) {
      add(fmt::format("The data began to move {} after {}.",
                      format_duration(distance(ready, first)),
                      has_posted_receive() ? "both were there" : "the call"));
    } else if (first >= 0 && first < ready) {
      add("The data was sent before that.");
    }
    if (last >= 0 && message_.t_end_ns == last) add("The end came with the last of it.");
    if (last >= 0 && message_.t_end_ns > last) {
      add(fmt::format("The end came {} after the last of it.",
                      format_duration(distance(last, message_.t_end_ns))));
    }
    if (message_.wait_ns > 0) {
      add(fmt::format("MPI calls waited {} for its other side.",
                      format_duration(static_cast<std::uint64_t>(message_.wait_ns))));
    }
    return text;
  }

  std::string timeline() const {
    struct Event {
      std::int64_t at_ns;
      std::string what;
    };
    std::vector<Event> events;
    const auto add = [&](std::int64_t at_ns, std::string what) {
      if (at_ns >= 0) events.push_back({at_ns, std::move(what)});
    };
    add(message_.t_start_ns, party(message_.initiator) + " called UCP");
    if (!one_sided()) add(message_.t_posted_recv_ns, party(Side::dst) + received_words());
    for (const Hop& hop : hops_) add(hop.t_first_ns, hop_words(hop));
    add(message_.t_end_ns, "complete");
    if (events.empty()) return "";
    std::stable_sort(events.begin(), events.end(),
                     [](const Event& a, const Event& b) { return a.at_ns < b.at_ns; });
    const std::int64_t origin =
        message_.t_start_ns >= 0 ? message_.t_start_ns : events.front().at_ns;
    std::string text =
        fmt::format("From {} of the run on:", format_duration(static_cast<std::uint64_t>(origin)));
    for (const Event& event : events) {
      text += fmt::format("\n  {:>20}  {}", offset_text(event.at_ns - origin), event.what);
    }
    return text;
  }

 private:
  // An active message has a handler instead of a receive, called when it arrives.
  bool has_posted_receive() const { return !one_sided() && message_.kind != MessageKind::am; }

  // `ready` becomes the instant from which only the transfer itself is missing.
  std::string waiting_for_receiver(std::int64_t& ready) const {
    const std::int64_t start = message_.t_start_ns, receiver = message_.t_posted_recv_ns;
    if (one_sided() || start < 0 || receiver < 0) return "";
    if (!has_posted_receive()) {
      return receiver < start
                 ? ""
                 : fmt::format("For {} to call the handler, {} after the send.", party(Side::dst),
                               format_duration(distance(start, receiver)));
    }
    ready = std::max(start, receiver);
    if (within_error(start, receiver)) {
      return "Whether for its receive is not known: the clocks let open which was posted first.";
    }
    const std::string error = error_text(run_, message_);
    return receiver > start
               ? fmt::format("For its receive, which was posted {}{} after the send.",
                             format_duration(distance(start, receiver)), error)
               : fmt::format("Not for its receive, which was posted {}{} before the send.",
                             format_duration(distance(receiver, start)), error);
  }

  std::pair<std::int64_t, std::int64_t> data_span() const {
    std::int64_t first = -1, last = -1;
    for (const Hop& hop : hops_) {
      if (hop.role != Role::data || hop.t_first_ns < 0) continue;
      first = first < 0 ? hop.t_first_ns : std::min(first, hop.t_first_ns);
      last = std::max(last, hop.t_last_ns);
    }
    return {first, last};
  }

  // The order of two instants on different sides is not known if they are closer than this.
  bool within_error(std::int64_t a_ns, std::int64_t b_ns) const {
    return wall_clocks_join() || (is_between_hosts(run_, message_) &&
                                  distance(std::min(a_ns, b_ns), std::max(a_ns, b_ns)) <=
                                      static_cast<std::uint64_t>(message_.t_error_ns));
  }

  const char* received_words() const {
    return message_.kind == MessageKind::am ? " called the handler" : " posted the receive";
  }

  std::string hop_words(const Hop& hop) const {
    std::string text = fmt::format("{}: {} x {} over {}, ", party(hop.issued_by), hop.count,
                                   word(hop.op), way_text(run_, hop));
    text += hop.role == Role::data
                ? bytes_text(hop.payload_bytes)
                : fmt::format("{}, {}", name_of(hop.role), format_bytes(hop.wire_bytes));
    if (hop.t_last_ns > hop.t_first_ns) {
      text += fmt::format(", for {}{}", least(hop),
                          format_duration(distance(hop.t_first_ns, hop.t_last_ns)));
    }
    return text;
  }
};

}  // namespace

std::string waiting_text(const ReceiptPart& part) { return Times(part).waiting(); }

std::string timeline_text(const ReceiptPart& part) { return Times(part).timeline(); }

}  // namespace uctrace
