// A folder that nobody takes for whole until it is: it is filled under a random name beside the one
// that is wanted, and renamed. What lies at the wanted name is never touched; an older
// folder gets another name where that is asked for.
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
  // The same, whatever has that name: for publish_in_place().
  struct InPlace {};
  NewFolder(const std::filesystem::path& wanted, InPlace);
  // Removes it, and what is in it, where it was not published.
  ~NewFolder();
  NewFolder(const NewFolder&) = delete;
  NewFolder& operator=(const NewFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  // Gives the folder its wanted name, in one step, and the permissions that new folders have.
  // Throws std::system_error.
  void publish();
  // The same in the place of the folder that has the name, if one has. Returns where that is then:
  // whoever knows what is in it removes it. Empty: there was none. Some file systems cannot do it
  // in one step: then there is for a moment nothing of the name, but never a part.
  std::filesystem::path publish_in_place();

 private:
  void make();
  void permit() const;

  std::filesystem::path wanted_, path_;
};

}  // namespace uctrace
