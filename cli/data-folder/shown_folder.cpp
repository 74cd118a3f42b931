#include "cli/data-folder/shown_folder.hpp"

#include "event-log/reader/plain_text.hpp"
#include "log-merger/folder/launcher_line.hpp"

namespace uctrace::cli {

std::string shown_folder(const DataChoice& data) {
  std::string words;
  const auto add = [&words](const std::string& word) {
    words += (words.empty() ? "" : " ") + shell_word(plain_text(word));
  };
  if (data.folder != default_folder()) add(data.folder.string());
  if (!data.store.empty()) {
    add("--store");
    add(data.store.string());
  }
  if (!data.job.empty()) {
    add("--job");
    add(data.job);
  }
  return words;
}

}  // namespace uctrace::cli
