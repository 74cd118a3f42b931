#include "launcher-line/edit.hpp"

#include <algorithm>

#include "launcher-line/editor.hpp"

namespace uctrace::launcher {

std::string preload_list(const std::vector<std::string>& libraries, std::string_view of_user) {
  std::string theirs;
  while (!of_user.empty()) {
    const std::size_t end = std::min(of_user.find_first_of(" :"), of_user.size());
    const std::size_t next = std::min(end + 1, of_user.size());
    const std::string_view one = of_user.substr(0, end);
    if (std::find(libraries.begin(), libraries.end(), one) == libraries.end()) {
      theirs += of_user.substr(0, next);
    }
    of_user.remove_prefix(next);
  }
  const std::string ours = join(libraries, ':');
  return theirs.empty() ? ours : ours + ":" + theirs;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

std::string join(const std::vector<std::string>& parts, char separator) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i != 0) text += separator;
    text += parts[i];
  }
  return text;
}

std::vector<Variable> Editor::variables() const {
  const std::string of_user = environment.get(kPreload).value_or(preload_otherwise);
  std::vector<Variable> all = {{kPreload, preload(of_user)}};
  all.insert(all.end(), wanted.variables.begin(), wanted.variables.end());
  return all;
}

std::string Editor::copy_of(const std::string& text) {
  const std::string path = wanted.copies.string() + std::to_string(result.copies.size());
  result.copies.push_back({path, text});
  return path;
}

Edit edit_line(const Words& words, Kind kind, const Prefix& prefix, const Wanted& wanted,
               const Surroundings& around) {
  Line line(words);
  Environment environment(line, prefix, around.variable);
  Edit result;
  Editor editor{line, prefix.command, environment, wanted, around, result};
  switch (kind) {
    case Kind::open_mpi:
      edit_open_mpi(editor);
      break;
    case Kind::hydra:
      edit_hydra(editor);
      break;
    case Kind::slurm:
      edit_slurm(editor);
      break;
    case Kind::none:
      break;
  }
  if (!result.unclear.empty()) {
    Edit alone = edit_line(words, Kind::none, prefix, wanted, around);
    alone.unclear = std::move(result.unclear);
    return alone;
  }
  for (const Variable& variable : editor.variables()) {
    environment.set(variable.name, variable.value);
  }
  result.words = line.result();
  result.environment = environment.changes();
  result.is_edited = line.is_edited();
  return result;
}

}  // namespace uctrace::launcher
