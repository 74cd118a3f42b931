// A file that nobody sees until it is whole: it is written under a random name beside the one that
// is wanted, and renamed. Whatever lies at the wanted name, a link included, is replaced and never
// written through; nothing that others planted is followed. A folder, device or pipe there is
// refused.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace uctrace {

// False, with errno set, where not all of it could be written.
bool write_all(int fd, std::string_view bytes);

class NewFile {
 public:
  // Makes an empty file `wanted` + kUnfinished + a random word (O_EXCL, O_NOFOLLOW), which
  // this process holds locked (flock) as long as it is open, so that others tell it from a
  // leftover. Throws std::system_error.
  explicit NewFile(const std::filesystem::path& wanted);
  // Removes it where it was not published.
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  int fd() const { return fd_; }
  const std::filesystem::path& path() const { return path_; }

  // Throws std::system_error where not all of it could be written.
  void write(std::string_view bytes);
  // Gives the file its wanted name, in one step. Throws std::system_error; the old one stays then.
  void publish();
  // The same, of std::errc::file_exists where something has that name already.
  void publish_new();
  // How a library that wants a path opens the file itself, whatever path() names by then.
  std::string path_to_open() const;

 private:
  // Some file systems say only when a descriptor is closed that they have no room. The file stays
  // locked meanwhile, as it is by any other descriptor of it.
  void require_written() const;

  std::filesystem::path wanted_, path_;
  int fd_ = -1;
};

// Why it could not be made or published, for a user.
std::string why_not_written(const std::system_error& error);

// Removes what was left of `wanted` by processes of this user that were killed while they wrote it:
// regular files of the name that NewFile gives which nobody holds locked. Keeps what it cannot
// tell.
void remove_leftovers(const std::filesystem::path& wanted);

}  // namespace uctrace
