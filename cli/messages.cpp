#include <fmt/format.h>

#include <iostream>

#include "cli/run_loader.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "event-log/reader/error.hpp"
#include "log-merger/reports/messages_output.hpp"

namespace uctrace::cli {
namespace {

Error no_message(std::uint64_t id, std::size_t messages) {
  return Error(
      {.what = fmt::format("--id {}", id),
       .why = messages == 0 ? "this run has no messages"
                            : fmt::format("this run has messages 0 to {}", messages - 1),
       .to_do = "take the number behind the # of a message, or its id in the other formats"});
}

std::vector<MessageId> chosen(const Run& run, const MessagesCommand& command) {
  const Filter filter(run, command.filter);
  if (command.ids.empty()) return selected_messages(run, filter);
  std::vector<MessageId> ids;
  for (const std::uint64_t id : command.ids) {
    if (id >= run.messages.size()) throw no_message(id, run.messages.size());
    if (filter.selects(run.messages[id])) ids.push_back(id);
  }
  return ids;
}

}  // namespace

int run(const MessagesCommand& command) {
  end_quietly_on_closed_pipe();
  const Run merged = load_run(command.data);
  write_messages(std::cout, merged, chosen(merged, command), command.format, command.limit,
                 command.ids.empty() ? Detail::brief : Detail::full);
  return kOk;
}

}  // namespace uctrace::cli
