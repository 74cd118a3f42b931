// The part of a receipt about memory registration for the message.
#include <fmt/format.h>

#include "log-merger/reports/receipt_part.hpp"
#include "log-merger/summaries/memory_output.hpp"

namespace uctrace {
namespace {

class Registrations : ReceiptPart {
 public:
  Registrations(const ReceiptPart& part, std::span<const MemoryCallRow> calls)
      : ReceiptPart(part), calls_(calls) {}

  std::string text() const {
    if (message_.registration_ns == 0) return "";
    const std::int64_t took_ns = message_.t_end_ns - message_.t_start_ns;
    std::string text =
        duration(message_.registration_ns) + " at both sides made memory known to others";
    if (message_.t_start_ns >= 0 && took_ns > 0) {
      text += fmt::format(" (the message took {})", duration(took_ns));
    }
    const char* lead = ": ";
    for (const MemoryCallRow& call : calls_) {
      if (!call.outermost) continue;
      text += lead + sentence(call);
      lead = "; ";
    }
    return text + ".";
  }

 private:
  static std::string duration(std::int64_t ns) {
    return format_duration(static_cast<std::uint64_t>(ns < 0 ? 0 : ns));
  }

  std::string sentence(const MemoryCallRow& call) const {
    const Process& process = run_.processes[call.process];
    const bool is_source = static_cast<std::int32_t>(call.process) == message_.src_process;
    const bool is_side =
        is_source || static_cast<std::int32_t>(call.process) == message_.dst_process;
    std::string text = duration(call.t_end_ns - call.t_start_ns) + ' ' + word(call.function);
    if (call.bytes != 0) text += " of " + bytes_text(call.bytes);
    if (call.memory == MemoryKind::gpu || call.memory == MemoryKind::managed) {
      text += " of " + memory_text(run_, {call.memory, call.gpu});
    }
    if (call.memory_domain != kNoText) text += " with " + word(call.memory_domain);
    text += " in " + (is_side ? party(is_source ? Side::src : Side::dst)
                              : fmt::format("process {}", process.pid));
    if (call.first_use) text += ", the first use of this memory there";
    if (word(call.status) != "UCS_OK") text += ", which failed with " + word(call.status);
    if (call.link == Link::inferred) text += " (tied by the message that arrived)";
    return text;
  }

  std::span<const MemoryCallRow> calls_;
};

}  // namespace

std::string registration_text(const ReceiptPart& part, std::span<const MemoryCallRow> calls) {
  return Registrations(part, calls).text();
}

}  // namespace uctrace
