#include "log-merger/folder/file_identity.hpp"

#include <fcntl.h>
#include <sys/stat.h>

namespace uctrace {
namespace {

std::optional<FileIdentity> identity(int result, const struct stat& status) {
  if (result != 0) return {};
  return FileIdentity{.device = status.st_dev, .inode = status.st_ino};
}

}  // namespace

std::optional<FileIdentity> identity_of(int fd) {
  struct stat status {};
  const int result = fstat(fd, &status);
  return identity(result, status);
}

std::optional<FileIdentity> identity_of(const std::filesystem::path& path) {
  struct stat status {};
  const int result = stat(path.c_str(), &status);
  return identity(result, status);
}

std::optional<FileIdentity> identity_of_name(const std::filesystem::path& path) {
  return identity_of_name(AT_FDCWD, path);
}

std::optional<FileIdentity> identity_of_name(int folder, const std::filesystem::path& name) {
  struct stat status {};
  const int result = fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW);
  return identity(result, status);
}

bool are_same(const std::optional<FileIdentity>& a, const std::optional<FileIdentity>& b) {
  return a && a == b;
}

}  // namespace uctrace
