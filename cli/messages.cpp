#include <iostream>

#include "cli/run_loader.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "log-merger/messages_output.hpp"

namespace uctrace::cli {

int run(const MessagesCommand& command) {
  end_quietly_on_closed_pipe();
  const Run merged = load_run(command.data);
  const Filter filter(merged, command.filter);
  write_messages(std::cout, merged, selected_messages(merged, filter), command.format,
                 command.limit);
  return kOk;
}

}  // namespace uctrace::cli
