#include "cli/data-folder/scratch_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <iostream>
#include <string>
#include <vector>

#include "log-merger/folder/data_files.hpp"

namespace uctrace::cli {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(int folder) {
  std::vector<std::string> names;
  DIR* entries = fdopendir(dup(folder));
  if (entries == nullptr) return names;
  while (const dirent* entry = readdir(entries)) names.emplace_back(entry->d_name);
  closedir(entries);
  return names;
}

void remove_data_files(const fs::path& path) {
  const int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return;
  for (const std::string& name : names_in(folder)) {
    if (is_data_file(name)) unlinkat(folder, name.c_str(), 0);
  }
  close(folder);
}

}  // namespace

bool remove_scratch_folder(const fs::path& path) {
  remove_data_files(path);
  return rmdir(path.c_str()) == 0;
}

ScratchFolder::ScratchFolder() {
  std::error_code error;
  std::string name = (fs::temp_directory_path(error) / "uctrace-XXXXXX").string();
  if (!error && mkdtemp(name.data()) != nullptr) path_ = name;
}

ScratchFolder::~ScratchFolder() {
  if (path_.empty() || remove_scratch_folder(path_) || errno != ENOTEMPTY) return;
  std::cerr << "uctrace: " << path_.string() << " is not removed: it holds what is not uctrace's\n";
}

}  // namespace uctrace::cli
