#include "log-merger/model/model.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "event-log/reader/plain_text.hpp"

namespace uctrace {
namespace {

// The name of the enumerator at its place in `names`; "?" beyond the last.
template <std::size_t kCount, typename Enum>
const char* name_in(const char* const (&names)[kCount], Enum value) {
  const auto index = static_cast<std::size_t>(value);
  return index < kCount ? names[index] : "?";
}

}  // namespace

TextId Texts::find(std::string_view text) const {
  const auto found = ids_.find(text);
  return found != ids_.end() ? found->second : kUnknownText;
}

TextId Texts::intern(std::string_view text) {
  if (const TextId known = find(text); known != kUnknownText) return known;
  const auto [at, is_new] = ids_.try_emplace(plain_text(text), static_cast<TextId>(texts_.size()));
  if (is_new) texts_.push_back(at->first);
  return at->second;
}

const char* name_of(MessageKind value) {
  static constexpr const char* kNames[] = {"tag", "am", "stream", "put", "get", "atomic"};
  return name_in(kNames, value);
}

const char* name_of(Match value) {
  static constexpr const char* kNames[] = {"exact", "inferred", "ambiguous", "unmatched",
                                           "outside_window"};
  return name_in(kNames, value);
}

const char* name_of(Side value) {
  static constexpr const char* kNames[] = {"src", "dst"};
  return name_in(kNames, value);
}

const char* name_of(Role value) {
  static constexpr const char* kNames[] = {"data", "control", "staging"};
  return name_in(kNames, value);
}

const char* name_of(TimeFrom value) {
  static constexpr const char* kNames[] = {"clock", "mpi_call", "arrival", "post"};
  return name_in(kNames, value);
}

const char* name_of(ProtocolFrom value) {
  static constexpr const char* kNames[] = {"none", "ucx", "derived"};
  return name_in(kNames, value);
}

const char* name_of(MemoryKind value) {
  static constexpr const char* kNames[] = {"unknown", "host", "gpu", "managed"};
  return name_in(kNames, value);
}

const char* name_of(Distance value) {
  static constexpr const char* kNames[] = {"unknown", "PIX", "PXB", "PHB", "NODE", "SYS"};
  return name_in(kNames, value);
}

const char* name_of(Reach reach) {
  switch (reach) {
    case Reach::unknown:
      return "unknown";
    case Reach::process:
      return "process";
    case Reach::host:
      return "host";
    case Reach::network:
      return "network";
  }
  return "?";
}

const char* name_of(FacetOf value) {
  static constexpr const char* kNames[] = {"mpi",       "called", "comm",   "protocol",
                                           "transport", "op",     "source", "destination"};
  return name_in(kNames, value);
}

const char* name_of(TrafficOf value) {
  static constexpr const char* kNames[] = {"message", "reason", "unattributed", "no_message"};
  return name_in(kNames, value);
}

const char* name_of(ActivityLayer value) {
  static constexpr const char* kNames[] = {"mpi", "ucp", "uct"};
  return name_in(kNames, value);
}

const char* name_of(RowsOf value) {
  static constexpr const char* kNames[] = {"mpi_calls", "ucp_operations", "transfers", "messages"};
  return name_in(kNames, value);
}

const char* name_of(Link value) {
  static constexpr const char* kNames[] = {"exact", "inferred", "ambiguous", "reason",
                                           "unattributed"};
  return name_in(kNames, value);
}

const char* name_of(Verdict value) {
  static constexpr const char* kNames[] = {"holds", "violated", "incomplete"};
  return name_in(kNames, value);
}

const char* name_of(SourceState value) {
  static constexpr const char* kNames[] = {"closed",     "dead",    "running", "unseen",
                                           "unreadable", "foreign", "other"};
  return name_in(kNames, value);
}

std::int64_t last_instant(const Run& run) {
  std::int64_t last = 0;
  for (const Message& message : run.messages) last = std::max(last, message.t_end_ns);
  for (const MpiCallRow& call : run.mpi_calls) last = std::max(last, call.t_end_ns);
  for (const LibraryCallRow& call : run.library_calls) last = std::max(last, call.t_end_ns);
  for (const UcpOperationRow& row : run.ucp_operations) last = std::max(last, row.t_end_ns);
  for (const Transfer& transfer : run.transfers) {
    last = std::max({last, transfer.t_end_ns, transfer.t_complete_ns});
  }
  return last;
}

std::string label_of(const Run& run, const CodeFrame& frame) {
  const auto file_name = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
  const std::string& function = run.texts[frame.function];
  if (frame.line != 0) {
    const std::string place = fmt::format("{}:{}", file_name(run.texts[frame.file]), frame.line);
    return function.empty() ? place : fmt::format("{} ({})", function, place);
  }
  const std::string& module = run.texts[frame.module];
  const std::string place =
      fmt::format("{}+{:#x}", module.empty() ? "unknown code" : file_name(module), frame.offset);
  return function.empty() ? place : fmt::format("{} ({})", function, place);
}

std::int32_t call_site_at(const Run& run, std::int32_t stack) {
  return stack < 0 ? -1 : run.stacks[static_cast<std::size_t>(stack)].call_site;
}

std::string label_of(const Run& run, const Gpu& gpu) {
  return run.texts[gpu.host] + '/' + run.texts[gpu.uuid];
}

TextId call_site_of(const Run& run, std::int32_t stack) {
  const std::int32_t site = call_site_at(run, stack);
  return site < 0 ? kNoText : run.call_sites[static_cast<std::size_t>(site)].label;
}

}  // namespace uctrace
