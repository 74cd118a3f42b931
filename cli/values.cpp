#include <filesystem>
#include <iostream>

#include "cli/data-folder/store_place.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "event-log/reader/error.hpp"
#include "log-merger/folder/data_files.hpp"
#include "log-merger/store/store.hpp"
#include "log-merger/summaries/run_values.hpp"

namespace uctrace::cli {

// A user waits for completion: nothing is merged, and errors are silent.
int run(const ValuesCommand& command) {
  end_quietly_on_closed_pipe();
  DataChoice data;
  data.folder = command.folder;
  try {
    const StorePlace place(data);
    for (const std::filesystem::path& folder : place.folders()) {
      if (!is_store(folder / kStoreFile)) continue;
      auto stored = open_store(folder / kStoreFile);
      if (!stored) continue;
      const RowSource rows(std::move(stored->head), std::move(stored->readers));
      for (const std::string& value : values_of_run(rows, command.option)) {
        std::cout << value << '\n';
      }
      break;
    }
  } catch (const Error&) {
    return kToolFailed;
  }
  return kOk;
}

}  // namespace uctrace::cli
