// Which file a name or an open descriptor leads to.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace uctrace {

struct FileIdentity {
  std::uint64_t device = 0, inode = 0;
  bool operator==(const FileIdentity&) const = default;
};

// Nothing where there is no such file, or where it cannot be asked for.
std::optional<FileIdentity> identity_of(int fd);
// Of what a link leads to.
std::optional<FileIdentity> identity_of(const std::filesystem::path& path);
// Of a link itself. Relative to `folder`, an open folder, where that is given.
std::optional<FileIdentity> identity_of_name(const std::filesystem::path& path);
std::optional<FileIdentity> identity_of_name(int folder, const std::filesystem::path& name);

// False where one of them is not known.
bool are_same(const std::optional<FileIdentity>& a, const std::optional<FileIdentity>& b);

}  // namespace uctrace
