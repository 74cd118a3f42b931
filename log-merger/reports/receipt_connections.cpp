// The part of a receipt about connections that the message used first.
#include <fmt/format.h>

#include "log-merger/reports/receipt_part.hpp"

namespace uctrace {
namespace {

class FirstUses : ReceiptPart {
 public:
  FirstUses(const ReceiptPart& part, std::span<const ConnectionRow> connections)
      : ReceiptPart(part), connections_(connections) {}

  std::string text() const {
    std::string text;
    for (const ConnectionRow& row : connections_) {
      text += (text.empty() ? "The first message over " : "; over ") + sentence(row);
    }
    if (text.empty()) return "";
    if (message_.connection_ns > 0) {
      text += fmt::format(". It waited {} for a connection",
                          format_duration(static_cast<std::uint64_t>(message_.connection_ns)));
    }
    return text + ".";
  }

 private:
  std::string sentence(const ConnectionRow& row) const {
    const bool is_source = static_cast<std::int32_t>(row.process) == message_.src_process;
    std::string text = fmt::format("{}/{} of {}", word(row.transport), word(row.device),
                                   party(is_source ? Side::src : Side::dst));
    if (row.creation_ns >= 0) {
      text += fmt::format(", made in {} with its UCP endpoint", duration(row.creation_ns));
    } else if (row.made_by == MadeBy::wireup) {
      text += ", made by wire-up";
    }
    const std::int64_t before_ns = message_.t_start_ns - row.t_created_ns;
    if (message_.t_start_ns >= 0) {
      text += before_ns >= 0 ? fmt::format(" {} before the message", duration(before_ns))
                             : fmt::format(" {} after its start", duration(-before_ns));
    }
    return text;
  }

  static std::string duration(std::int64_t ns) {
    return format_duration(static_cast<std::uint64_t>(ns));
  }

  std::span<const ConnectionRow> connections_;
};

}  // namespace

std::string connections_text(const ReceiptPart& part, std::span<const ConnectionRow> connections) {
  return FirstUses(part, connections).text();
}

}  // namespace uctrace
