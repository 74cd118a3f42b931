#include "log-merger/exports/remarks.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace uctrace::exports {
namespace {

constexpr std::size_t kNamedProcesses = 8;

void add_processes(const Run& run, std::vector<std::string>& remarks) {
  std::string names;
  std::size_t incomplete = 0;
  for (const Process& process : run.processes) {
    if (process.complete) continue;
    if (++incomplete > kNamedProcesses) continue;
    if (!names.empty()) names += ", ";
    names += name_of_process(run, process);
    const std::string& exit = run.texts[process.exit];
    if (!exit.empty()) names += fmt::format(" ({})", exit);
  }
  if (incomplete == 0) return;
  if (incomplete > kNamedProcesses) names += ", ...";
  remarks.push_back(
      fmt::format("the run is incomplete: of {} of {} what is recorded is not whole: {}",
                  incomplete, counted(run.processes.size(), "process"), names));
}

void add_messages(const RowSource& source, std::vector<std::string>& remarks) {
  std::uint64_t unknown_src = 0, unknown_dst = 0, ambiguous = 0, unmatched = 0, outside = 0;
  for_each_row(source,
               Wanted<Message>{&Message::match, &Message::src_process, &Message::dst_process},
               [&](const Message& message, std::size_t) {
                 unknown_src += message.src_process < 0;
                 unknown_dst += message.dst_process < 0;
                 ambiguous += message.match == Match::ambiguous;
                 unmatched += message.match == Match::unmatched;
                 outside += message.match == Match::outside_window;
               });
  const auto add = [&](std::uint64_t count, const char* what) {
    if (count != 0) remarks.push_back(fmt::format("{} {}", counted(count, "message"), what));
  };
  add(unknown_src, "of an unknown source");
  add(unknown_dst, "to an unknown destination");
  add(ambiguous, "of which it is not certain that send and receive belong together");
  add(unmatched, "of which the other side was not found");
  add(outside, "of which the other side may be outside of what was recorded");
}

}  // namespace

std::string counted(std::uint64_t count, const char* singular) {
  const std::string_view word = singular;
  const char* const ending = count == 1 ? "" : word.ends_with('s') ? "es" : "s";
  return fmt::format("{} {}{}", count, word, ending);
}

std::string name_of_process(const Run& run, const Process& process) {
  std::string name;
  if (process.world > 0) name = fmt::format("world {} ", process.world);
  if (process.rank >= 0) name += fmt::format("rank {} ", process.rank);
  return name + fmt::format("{} pid {}", run.texts[process.host], process.pid);
}

std::vector<std::string> remarks_on(const RowSource& source) {
  std::vector<std::string> remarks;
  add_processes(source.run(), remarks);
  add_messages(source, remarks);
  const std::vector<std::string>& notes = source.run().notes;
  remarks.insert(remarks.end(), notes.begin(), notes.end());
  return remarks;
}

}  // namespace uctrace::exports
