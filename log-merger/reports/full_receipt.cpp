// The receipt of one message in sentences: who asked for it, what carried it and how, when, what it
// waited for, and how sure all of that is.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "log-merger/reports/receipt_part.hpp"
#include "log-merger/summaries/legs.hpp"
#include "log-merger/summaries/memory_output.hpp"

namespace uctrace {
namespace {

// The speed of a few bytes reflects the cost of a call, not the path.
constexpr std::uint64_t kLeastBytesForSpeed = 4096;

Side other(Side side) { return side == Side::src ? Side::dst : Side::src; }

// "am_short_iov" copies as am_short does.
std::string_view copy_words(std::string_view op) {
  if (op == "cpu_copy") return "copied by its CPU from memory that it mapped";
  if (op.find("_short") != op.npos) return "written by its CPU";
  if (op.find("_bcopy") != op.npos) return "copied by its CPU through a buffer of the transport";
  if (op == "get_zcopy") return "straight into its memory";
  if (op.find("_zcopy") != op.npos) return "straight from its memory";
  return "";
}

class FullReceipt : ReceiptPart {
 public:
  FullReceipt(const Run& run, const Labels& labels, const MessageWithPath& told)
      : ReceiptPart(run, labels, told), told_(told) {}

  std::string text() {
    text_ = fmt::format("Message #{}: {} from {} to {}\n", told_.id, bytes_text(message_.bytes),
                        party(Side::src), party(Side::dst));
    line("Asked by", asked());
    if (const std::string sites = call_sites_text(run_, message_); !sites.empty()) {
      line("Called", "In " + sites + ".");
    }
    if (const std::string libraries = libraries_text(run_, message_); !libraries.empty()) {
      line("Library", libraries + ".");
    }
    line("Outcome", outcome());
    line("Protocol", scheme() + protocol_name());
    if (pieces_of(Role::data) > 0) {
      line("Pipelined", pipelined());
      line("Transport", carried());
    }
    if (message_.hops == 0) line("Transport", "Not recorded.");
    line("Memory", memories() + copies());
    line("Way", way());
    line("Connected", connections_text(*this, told_.connections));
    line("Registered", registration_text(*this, told_.memory_calls));
    line("Waiting", waiting_text(*this));
    line("Certainty", certainty());
    line("Timeline", timeline_text(*this));
    add_stack("Call stack", message_.stack);
    add_stack("Call stack of the receive", message_.recv_stack);
    return std::move(text_);
  }

 private:
  void line(std::string_view label, const std::string& sentences) {
    if (!sentences.empty()) text_ += fmt::format("  {:<11}{}\n", label, sentences);
  }

  std::int32_t process_of(Side side) const {
    return side == Side::src ? message_.src_process : message_.dst_process;
  }
  // "rank 1 (pid 4711 on node1)".
  std::string place(Side side) const {
    const std::int32_t process = process_of(side);
    if (process < 0) return party(side);
    const Process& row = run_.processes[static_cast<std::size_t>(process)];
    return fmt::format("{} (pid {} on {})", party(side), row.pid, word(row.host));
  }
  bool protocol_has(std::string_view part) const {
    return word(message_.protocol).find(part) != std::string::npos;
  }

  std::uint64_t pieces_of(Role role) const {
    std::uint64_t pieces = 0;
    for (const Hop& hop : hops_) pieces += hop.role == role ? hop.count : 0;
    return pieces;
  }

  // The operation that moved the data, if all went the same way; else the first one.
  std::string_view data_operation() const {
    for (const Hop& hop : hops_) {
      if (hop.role == Role::data) return word(hop.op);
    }
    return "";
  }

  bool is_paired() const {
    return message_.match != Match::unmatched && message_.match != Match::outside_window;
  }

  // ": allreduce, knomial by tl_ucp", as far as it is known.
  std::string collective() const {
    if (message_.asked_collective == kNoText) return "";
    std::string text = ": " + word(message_.asked_collective);
    if (message_.asked_algorithm != kNoText) text += ", " + word(message_.asked_algorithm);
    if (message_.asked_layers != kNoText) text += " by " + word(message_.asked_layers);
    return text + (message_.asked_inferred ? "; inferred" : "");
  }

  std::string asked() const {
    const Side asker = message_.initiator;
    const bool by_library = message_.asked_function != kNoText;
    std::string text = message_.mpi != kNoText ? word(message_.mpi) + " of " + place(asker)
                       : by_library ? word(message_.asked_function) + " of " + place(asker)
                       : !is_paired() && process_of(asker) < 0
                           ? "an unknown call of " + place(asker)
                           : "no MPI call, but " + place(asker) + " itself";
    if (by_library) {
      text += message_.mpi != kNoText ? ", within it " + word(message_.asked_function) : "";
      text += " (" + word(message_.asked_library) + collective() + ")";
    }
    if (message_.comm != kNoText) text += " on " + word(message_.comm);
    if (message_.has_tag) text += fmt::format(" with tag {}", message_.tag);
    if (message_.kind != MessageKind::tag) {
      text += fmt::format(
          ", as {} {}",
          message_.kind == MessageKind::atomic || message_.kind == MessageKind::am ? "an" : "a",
          kind_words());
    }
    if (one_sided()) return text + ", on memory of " + place(other(asker)) + ".";
    if (message_.mpi_recv != kNoText) {
      return text +
             fmt::format("; {} of {} received it.", word(message_.mpi_recv), place(Side::dst));
    }
    if (message_.match == Match::unmatched && process_of(asker) >= 0)
      return text + "; no receive took it.";
    if (!is_paired() && process_of(asker) >= 0) return text + ".";
    return text + "; " + place(Side::dst) + " received it.";
  }

  void add_stack(std::string_view title, std::int32_t index) {
    if (index < 0) return;
    const CallStack& stack = run_.stacks[static_cast<std::size_t>(index)];
    text_ += fmt::format("  {}, innermost first:\n", title);
    for (std::uint32_t i = 0; i < stack.frames; ++i) {
      const CodeFrame& frame = run_.frames[run_.stack_frames[stack.first_frame + i].frame];
      text_ += fmt::format("    {}{}\n", label_of(run_, frame), frame.inlined ? ", inlined" : "");
    }
    if (stack.truncated) text_ += "    and further ones\n";
  }

  std::string_view kind_words() const {
    if (message_.kind == MessageKind::am) return "active message";
    return name_of(message_.kind);
  }

  std::string outcome() const {
    std::string text = message_.status == kNoText ? "Not known" : word(message_.status);
    if (message_.t_start_ns >= 0 && message_.t_end_ns >= message_.t_start_ns) {
      text += fmt::format(" after {}{}{}", is_bounded(message_) ? "about " : "",
                          format_duration(distance(message_.t_start_ns, message_.t_end_ns)),
                          error_text(run_, message_));
    } else if (message_.t_end_ns < 0) {
      text += "; its end is not known";
    }
    return text + ".";
  }

  std::string protocol_name() const {
    if (message_.protocol == kNoText) return "";
    const bool from_ucx = message_.protocol_from == ProtocolFrom::ucx;
    return fmt::format(" In UCX's words: {}{}.", word(message_.protocol),
                       from_ucx ? "" : ", derived from the path");
  }

  // How the protocol works, from its name and the operations on the path.
  std::string scheme() const {
    const std::string src = party(Side::src), dst = party(Side::dst);
    const std::string_view op = data_operation();
    if (message_.protocol == kNoText) return "Not known.";
    if (one_sided()) return one_sided_scheme(op);
    if (protocol_has("offload")) return "The interface matched the message by itself.";
    if (!protocol_has("rndv")) {
      return fmt::format("Eager: {} sent it at once, without asking {}.{}", src, dst,
                         protocol_has("sync") ? " The receive was acknowledged." : "");
    }
    const std::string announced = "A rendezvous: " + src + " announced the message, ";
    if (op.starts_with("get")) return announced + dst + " fetched the data.";
    if (op.starts_with("put")) {
      return announced + fmt::format("{} told where to put the data, {} wrote it there.", dst, src);
    }
    if (op.starts_with("am")) {
      return announced + fmt::format("{} asked for the data, {} sent it.", dst, src);
    }
    if (op == "cpu_copy") return announced + dst + " copied the data out of memory of " + src + ".";
    return announced + "no data moved.";
  }

  std::string one_sided_scheme(std::string_view op) const {
    const std::string target = party(other(message_.initiator));
    if (op.starts_with("am")) {
      return fmt::format(
          "By active messages: the CPU of {} did what the transport cannot do by "
          "itself.",
          target);
    }
    return fmt::format("By the transport itself, without the CPU of {}.", target);
  }

  std::string pipelined() const {
    const std::uint64_t pieces = pieces_of(Role::data), staged = pieces_of(Role::staging);
    std::string text = pieces == 1 ? "No: the data moved in 1 piece"
                                   : fmt::format("Yes: the data moved in {} pieces", pieces);
    if (staged > 0) text += fmt::format(", staged through other memory by {} operations", staged);
    return text + ".";
  }

  // For each path of data: amount, operations, copying side, speed.
  std::string carried() const {
    std::string text;
    for (const Hop& hop : hops_) {
      if (hop.role != Role::data) continue;
      const bool all = hop.payload_bytes == message_.bytes;
      text += fmt::format("{}{} carried {}: {} x {} by {}", text.empty() ? "" : " ",
                          way_text(run_, hop), all ? "all of it" : bytes_text(hop.payload_bytes),
                          hop.count, word(hop.op), party(hop.issued_by));
      const std::string_view copy = copy_words(word(hop.op));
      if (!copy.empty()) text += fmt::format(", {}", copy);
      if (hop.wire_bytes > hop.payload_bytes) {
        text +=
            fmt::format(", with {} of headers", format_bytes(hop.wire_bytes - hop.payload_bytes));
      }
      text += speed(hop) + ".";
    }
    return text;
  }

  static std::string speed(const Hop& hop) {
    if (hop.t_first_ns < 0 || hop.t_last_ns <= hop.t_first_ns) return "";
    const std::uint64_t ns = distance(hop.t_first_ns, hop.t_last_ns);
    if (hop.payload_bytes < kLeastBytesForSpeed)
      return fmt::format(", in {}{}", least(hop), format_duration(ns));
    constexpr double kMost = 0x1p63;  // a store may say anything
    const double per_second =
        std::min(static_cast<double>(hop.payload_bytes) * 1e9 / static_cast<double>(ns), kMost);
    return fmt::format(", in {} ({}/s)", format_duration(ns),
                       format_bytes(static_cast<std::uint64_t>(per_second)));
  }

  std::string memories() const {
    const MemoryPlace src = message_.src_place(), dst = message_.dst_place();
    if (!is_device_memory(src) && !is_device_memory(dst)) {
      return fmt::format("From {} to {} memory.", name_of(src.kind), name_of(dst.kind));
    }
    return fmt::format("From {} to {}.", full_memory_text(run_, src), full_memory_text(run_, dst));
  }

  // For data in GPU memory, at an end or on the way.
  std::string way() const {
    const bool by_gpu = std::any_of(hops_.begin(), hops_.end(), [](const Hop& hop) {
      return is_device_memory(hop.from()) || is_device_memory(hop.to());
    });
    return by_gpu ? legs_text(run_, message_, hops_) + "." : "";
  }

  // UCX's copies within a side, if the transport cannot reach the memory.
  std::string copies() const {
    std::string text;
    for (const Hop& hop : hops_) {
      if (hop.role != Role::staging) continue;
      text += fmt::format(" {} copied it from {} to {}: {} x {} over {}.", party(hop.issued_by),
                          memory_text(run_, hop.from()), memory_text(run_, hop.to()), hop.count,
                          word(hop.op), way_text(run_, hop));
    }
    return text;
  }

  std::string certainty() const {
    std::string text = pairing();
    std::uint64_t inferred = 0, all = 0;
    for (const Hop& hop : hops_) {
      all += hop.count;
      inferred += hop.exact ? 0 : hop.count;
    }
    if (all > 0 && inferred == 0) text += " Its transfers are known by ids.";
    if (inferred > 0) {
      text +=
          fmt::format(" Known by content, not by an id: {} of its {} transfers.", inferred, all);
    }
    text += shared_times();
    if (wall_clocks_join()) {
      text +=
          " Times of one side against the other's are as good as the wall clocks of their hosts.";
    }
    return text;
  }

  // Which times are those of an enclosing event.
  std::string shared_times() const {
    constexpr auto kCall = TimeFrom::mpi_call;
    std::string text;
    if (message_.t_start_from == kCall) text += " The send is timed by its MPI call.";
    if (message_.t_posted_recv_from == kCall) text += " The receive is timed by its MPI call.";
    if (message_.t_end_from == TimeFrom::arrival) text += " Its end is timed by its arrival.";
    return text;
  }

  std::string pairing() const {
    const char* pair = one_sided() ? "Its target" : "The pair of send and receive";
    switch (message_.match) {
      case Match::exact:
        return fmt::format("{} is certain.", pair);
      case Match::inferred:
        return fmt::format("{} was found by the content.", pair);
      case Match::ambiguous: {
        const std::string why = incomplete_text(run_, labels_, message_);
        return fmt::format(
            "{} is a guess: several fit{}.", pair,
            why.empty() ? "" : ", and records that would tell may be missing: " + why);
      }
      case Match::outside_window:
        return process_of(message_.initiator) >= 0 ? "Its receive is outside of what was recorded."
                                                   : "Its send is outside of what was recorded.";
      case Match::unmatched:
        break;
    }
    return process_of(message_.initiator) >= 0 ? "Nothing in the logs received it."
                                               : "Its send is not in the logs.";
  }

  const MessageWithPath& told_;
  std::string text_;
};

}  // namespace

std::string full_receipt(const Run& run, const Labels& labels, const MessageWithPath& told) {
  return FullReceipt(run, labels, told).text();
}

}  // namespace uctrace
