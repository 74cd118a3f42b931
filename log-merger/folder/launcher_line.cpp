#include "log-merger/folder/launcher_line.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "event-log/reader/input_file.hpp"
#include "event-log/reader/plain_text.hpp"
#include "log-merger/folder/data_files.hpp"

namespace uctrace {

namespace {

// Bash's $'...', which writes control characters and other bytes as escapes.
std::string bash_word(std::string_view text) {
  std::string quoted = "$'";
  for (std::size_t size = 0; !text.empty(); text.remove_prefix(size)) {
    size = std::max<std::size_t>(plain_character(text), 1);
    const std::string_view character = text.substr(0, size);
    if (character == "\n") {
      quoted += "\\n";
    } else if (character == "\t") {
      quoted += "\\t";
    } else if (character == "'" || character == "\\") {
      quoted += '\\' + std::string(character);
    } else {
      quoted += plain_text(character);
    }
  }
  return quoted + "'";
}

}  // namespace

std::string shell_word(const std::string& text) {
  constexpr const char* kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+=:,@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  if (!is_plain(text)) return bash_word(text);
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? "'\\''" : std::string(1, c);
  return quoted + "'";
}

std::string shell_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) {
    line += (line.empty() ? "" : " ") + shell_word(word);
  }
  return line;
}

namespace merge {

bool is_job_of(std::string_view job, std::string_view recording) {
  return !recording.empty() && job.starts_with(recording) &&
         (job.size() == recording.size() || job[recording.size()] == '.');
}

std::string launcher_line(const std::filesystem::path& folder, std::string_view job) {
  constexpr std::size_t kMostBytes = 64 << 20;
  const std::optional<std::string> text = log::read_text((folder / kRunFile).string(), kMostBytes);
  if (!text) return {};
  const nlohmann::json run = nlohmann::json::parse(*text, nullptr, false);
  if (!run.is_object() || !run.contains("job") || !run["job"].is_string() ||
      !is_job_of(job, run["job"].get<std::string>()) || !run.contains("command") ||
      !run["command"].is_array()) {
    return {};
  }
  std::vector<std::string> words;
  for (const nlohmann::json& word : run["command"]) {
    if (!word.is_string()) return {};
    words.push_back(word.get<std::string>());
  }
  return shell_line(words);
}

}  // namespace merge
}  // namespace uctrace
