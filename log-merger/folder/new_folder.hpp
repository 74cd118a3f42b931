// A folder that nobody takes for whole until it is: it is filled under a random name beside the one
// that is wanted, and renamed. What lies at the wanted name is never touched.
#pragma once

#include <filesystem>

namespace uctrace {

// Gives what is at `from` the name `to`, which nothing may have. Throws std::system_error, of
// std::errc::file_exists where something has it.
void rename_to_new(const std::filesystem::path& from, const std::filesystem::path& to);

class NewFolder {
 public:
  // Makes an empty folder `wanted` + kUnfinished + a random word, for this user alone. Throws
  // std::system_error, of std::errc::file_exists where something has the name that is wanted.
  explicit NewFolder(const std::filesystem::path& wanted);
  // Removes it, and what is in it, where it was not published.
  ~NewFolder();
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Gives the folder its wanted name, in one step, and the permissions that new folders have.
  // Throws std::system_error.
  void publish();

 private:
  std::filesystem::path wanted_, path_;
};

}  // namespace uctrace
