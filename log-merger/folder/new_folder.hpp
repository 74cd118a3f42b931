// A folder that appears only when complete: it is filled under a random name beside the wanted one,
// then renamed. Anything at the wanted name is never touched.
#pragma once

#include <filesystem>

namespace uctrace {

// Renames `from` to `to`, which must be free. Throws std::system_error, with std::errc::file_exists
// if it is taken.
void rename_to_new(const std::filesystem::path& from, const std::filesystem::path& to);

class NewFolder {
 public:
  // Makes an empty folder `wanted` + kUnfinished + a random word, for this user only. Throws
  // std::system_error, with std::errc::file_exists if the wanted name is taken.
  explicit NewFolder(const std::filesystem::path& wanted);
  // Removes it with its content if it was not published.
  ~NewFolder();
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Gives the folder its wanted name atomically, and the permissions of new folders. Throws
  // std::system_error.
  void publish();

 private:
  std::filesystem::path wanted_, path_;
};

}  // namespace uctrace
