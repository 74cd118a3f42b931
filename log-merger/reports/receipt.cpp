// The short receipt of a message, as lists show it: the answer to "which transport carried my
// message?".
#include <fmt/format.h>

#include <algorithm>

#include "log-merger/reports/messages_output.hpp"
#include "log-merger/reports/receipt_words.hpp"
#include "log-merger/summaries/memory_output.hpp"

namespace uctrace {

bool is_one_sided(MessageKind kind) {
  return kind == MessageKind::put || kind == MessageKind::get || kind == MessageKind::atomic;
}

bool is_between_hosts(const Run& run, const Message& message) {
  const std::int32_t src = message.src_process, dst = message.dst_process;
  const auto host = [&](std::int32_t i) { return run.processes[static_cast<std::size_t>(i)].host; };
  return src >= 0 && dst >= 0 && host(src) != host(dst);
}

std::string error_text(const Run& run, const Message& message) {
  if (message.t_error_ns < 0 || !is_between_hosts(run, message)) return "";
  return " +- " + format_duration(static_cast<std::uint64_t>(message.t_error_ns));
}

std::string party_text(const Labels& labels, Party party) {
  const std::string label = labels(party);
  return party.rank >= 0 ? "rank " + label : label;
}

// Its own two sides tell most; messages of other processes may look the same.
std::string incomplete_text(const Run& run, const Labels& labels, const Message& message) {
  const auto is_incomplete = [](const Process& process) { return !process.complete; };
  for (const Party side : {source_of(message), destination_of(message)}) {
    if (side.process >= 0 && is_incomplete(run.processes[static_cast<std::size_t>(side.process)])) {
      return fmt::format("the log of {} is incomplete", party_text(labels, side));
    }
  }
  const auto count = std::count_if(run.processes.begin(), run.processes.end(), is_incomplete);
  return count == 0 ? "" : fmt::format("{} log{} incomplete", count, count == 1 ? " is" : "s are");
}

std::string bytes_text(std::uint64_t bytes) {
  return bytes < 1024 ? format_bytes(bytes) : fmt::format("{} B ({})", bytes, format_bytes(bytes));
}

std::string way_text(const Run& run, const Hop& hop) {
  const auto name = [&](TextId id) { return id == kNoText ? "unknown" : run.texts[id]; };
  std::string text = name(hop.transport) + '/' + name(hop.device);
  if (hop.remote_device != kNoText && hop.remote_device != hop.device) {
    text += " to " + run.texts[hop.remote_device];
  }
  return text;
}

bool is_bounded(const Message& message) {
  return message.t_start_from != TimeFrom::clock || message.t_end_from != TimeFrom::clock;
}

namespace {

// "MPI_Isend on MPI_COMM_WORLD, received by MPI_Irecv".
std::string asked_text(const Run& run, const Message& message) {
  const bool by_library = message.asked_function != kNoText;
  std::string text = message.mpi != kNoText ? run.texts[message.mpi]
                     : by_library           ? run.texts[message.asked_function]
                                            : "no MPI call";
  if (message.comm != kNoText) text += " on " + run.texts[message.comm];
  if (message.mpi_recv != kNoText && message.mpi_recv != message.mpi) {
    text += ", received by " + run.texts[message.mpi_recv];
  }
  return text;
}

std::string duration_text(const Run& run, const Message& message) {
  if (message.t_start_ns < 0 || message.t_end_ns < 0) return "";
  // The clock error of two hosts may exceed the time of a short message.
  if (message.t_end_ns < message.t_start_ns) return ", duration below the clock error";
  const auto ns = static_cast<std::uint64_t>(message.t_end_ns - message.t_start_ns);
  return fmt::format(", {}{}{}", is_bounded(message) ? "~" : "", format_duration(ns),
                     error_text(run, message));
}

// Only if it took at least a tenth of the time; the full receipt always has it.
std::string registration_line(const Message& message) {
  const std::int64_t took_ns = message.t_end_ns - message.t_start_ns;
  const bool is_large = message.registration_ns > 0 && message.t_start_ns >= 0 && took_ns >= 0 &&
                        message.registration_ns >= took_ns / 10;
  if (!is_large) return "";
  return fmt::format("  registration: {}, at both sides\n",
                     format_duration(static_cast<std::uint64_t>(message.registration_ns)));
}

std::string wait_line(const Message& message) {
  if (message.wait_ns <= 0) return "";
  return fmt::format("  waiting: {} in MPI calls, for its other side\n",
                     format_duration(static_cast<std::uint64_t>(message.wait_ns)));
}

// Problems and uncertainties; empty for an ordinary message.
std::string doubts_text(const Run& run, const Labels& labels, const Message& message) {
  std::string text;
  const auto add = [&](const std::string& doubt) {
    text += (text.empty() ? "  note: " : "; ") + doubt;
  };
  if (message.status != kNoText && run.texts[message.status] != "UCS_OK") {
    add("status " + run.texts[message.status]);
  }
  if (message.match == Match::inferred) add("send and receive paired by their content");
  if (message.match == Match::ambiguous) {
    add("several sends and receives fit, the pairing is a guess");
    if (const std::string why = incomplete_text(run, labels, message); !why.empty()) add(why);
  }
  if (message.match == Match::unmatched) {
    add(message.src_process >= 0 ? "no receive took it" : "its send is not in the logs");
  }
  if (message.match == Match::outside_window) {
    add(message.src_process >= 0 ? "its receive is outside of what was recorded"
                                 : "its send is outside of what was recorded");
  }
  return text.empty() ? text : text + '\n';
}

// ", GPU 0000:10:00.0 to host memory"; empty if no device is involved.
std::string way_of_memory(const Run& run, MemoryPlace from, MemoryPlace to) {
  if (!is_device_memory(from) && !is_device_memory(to)) return "";
  return fmt::format(", {} to {}", memory_text(run, from), memory_text(run, to));
}

// "8 x am_bcopy over posix/memory, 65536 B (64.0 KiB) + 136 B headers".
std::string hop_text(const Run& run, const Message& message, const Hop& hop) {
  std::string text =
      fmt::format("{} x {} over {}", hop.count, hop.op == kNoText ? "unknown" : run.texts[hop.op],
                  way_text(run, hop));
  if (hop.role == Role::control) {
    text += fmt::format(", control, {}", format_bytes(hop.wire_bytes));
  } else if (hop.role == Role::staging) {  // a copy of the payload, which is counted when it is
                                           // sent
    text += fmt::format(", staging, {}", bytes_text(hop.wire_bytes));
    text += way_of_memory(run, hop.from(), hop.to());
  } else {
    text += ", " + bytes_text(hop.payload_bytes);
    if (hop.wire_bytes > hop.payload_bytes) {
      text += fmt::format(" + {} headers", format_bytes(hop.wire_bytes - hop.payload_bytes));
    }
    text += way_of_memory(run, hop.from(), hop.to());
  }
  if (hop.issued_by != message.initiator) {
    const bool by_destination = hop.issued_by == Side::dst;
    if (is_one_sided(message.kind)) {
      text += by_destination ? ", issued by the destination" : ", issued by the source";
    } else {
      text += by_destination ? ", issued by the receiver" : ", issued by the sender";
    }
  }
  return hop.exact ? text : text + ", tied by content";
}

}  // namespace

std::string call_sites_text(const Run& run, const Message& message) {
  const TextId asked = call_site_of(run, message.stack);
  const TextId received = call_site_of(run, message.recv_stack);
  std::string text = asked == kNoText ? "" : run.texts[asked];
  if (received != kNoText) {
    text += (text.empty() ? "its receive in " : ", its receive in ") + run.texts[received];
  }
  return text;
}

std::string libraries_text(const Run& run, const Message& message) {
  const auto called_several = [&](std::int32_t process) {
    return process >= 0 && run.processes[static_cast<std::size_t>(process)].ucp_libraries > 1;
  };
  if (!called_several(message.src_process) && !called_several(message.dst_process)) return "";
  const auto name = [&](TextId id) { return id == kNoText ? "unknown" : run.texts[id]; };
  const std::string src = name(message.src_library), dst = name(message.dst_library);
  const bool is_one = src == dst || message.dst_process < 0;
  return is_one ? src : message.src_process < 0 ? dst : src + " to " + dst;
}

std::string receipt(const Run& run, const Labels& labels, const MessageWithPath& told) {
  const Message& message = told.message;
  std::string text = fmt::format("#{} {} -> {}, ", told.id, party_text(labels, source_of(message)),
                                 labels(destination_of(message)));
  // Most messages have a tag, which shows this.
  if (message.kind != MessageKind::tag) text += fmt::format("{}, ", name_of(message.kind));
  text += bytes_text(message.bytes);
  if (message.has_tag) text += fmt::format(", tag {}", message.tag);
  text += ", " + asked_text(run, message);
  if (message.protocol != kNoText) text += ", " + run.texts[message.protocol];
  text += way_of_memory(run, message.src_place(), message.dst_place());
  text += duration_text(run, message) + '\n';
  const std::string sites = call_sites_text(run, message);
  if (!sites.empty()) text += "  called in " + sites + '\n';
  const std::string libraries = libraries_text(run, message);
  if (!libraries.empty()) text += "  library: " + libraries + '\n';
  text += wait_line(message);
  text += registration_line(message);
  const char* lead = "  path: ";
  for (const Hop& hop : told.path) {
    text += lead + hop_text(run, message, hop) + '\n';
    lead = "        ";
  }
  if (message.hops == 0) text += "  path: not recorded\n";
  return text + doubts_text(run, labels, message);
}

}  // namespace uctrace
