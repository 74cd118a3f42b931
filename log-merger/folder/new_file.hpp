// A file that appears only when complete: it is written under a random name beside the wanted one,
// then renamed. Anything at the wanted name, even a link, is replaced and never written through;
// links planted by others are not followed. A folder, device or pipe there is refused.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace uctrace {

// False, with errno set, if not everything could be written.
bool write_all(int fd, std::string_view bytes);

class NewFile {
 public:
  // Makes an empty file `wanted` + kUnfinished + a random word (O_EXCL, O_NOFOLLOW), which this
  // process keeps locked (flock) while open, so others can distinguish it from a leftover. Throws
  // std::system_error.
  explicit NewFile(const std::filesystem::path& wanted);
  // Removes it if it was not published.
  ~NewFile();
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;

  int fd() const { return fd_; }
  const std::filesystem::path& path() const { return path_; }

  // Throws std::system_error if not everything could be written.
  void write(std::string_view bytes);
  // Gives the file its wanted name atomically. On std::system_error the old file stays.
  void publish();
  // The same, but throws std::errc::file_exists if the name is taken.
  void publish_new();
  // A path by which a library can open the file itself, whatever path() names by then.
  std::string path_to_open() const;

 private:
  // Some file systems report a lack of room only when a descriptor is closed. The file stays
  // locked, because another descriptor of it stays open.
  void require_written() const;

  std::filesystem::path wanted_, path_;
  int fd_ = -1;
};

// Why it could not be made or published, for a user.
std::string why_not_written(const std::system_error& error);

// Removes leftovers of `wanted` by killed processes of this user: regular files with NewFile's
// names that nobody holds locked. Keeps files in case of doubt.
void remove_leftovers(const std::filesystem::path& wanted);

}  // namespace uctrace
