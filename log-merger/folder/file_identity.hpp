// The identity of the file behind a name or an open descriptor.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace uctrace {

struct FileIdentity {
  std::uint64_t device = 0, inode = 0;
  bool operator==(const FileIdentity&) const = default;
};

// Nothing if there is no such file, or it cannot be examined.
std::optional<FileIdentity> identity_of(int fd);
// Follows links.
std::optional<FileIdentity> identity_of(const std::filesystem::path& path);
// The identity of a link itself. Relative to `folder`, an open folder, if given.
std::optional<FileIdentity> identity_of_name(const std::filesystem::path& path);
std::optional<FileIdentity> identity_of_name(int folder, const std::filesystem::path& name);

// False if one of them is not known.
bool are_same(const std::optional<FileIdentity>& a, const std::optional<FileIdentity>& b);

}  // namespace uctrace
