// The file systems a log may lie on, by f_type of statfs(2), and how a log is written there.
#pragma once

#include <cstdint>

#include "event-log/format/kinds.hpp"

namespace uctrace::log {

struct FileSystem {
  std::uint32_t type;
  const char* name;
  Storage storage;
  bool remote;  // a write may fail later than it returns
};

// A log is mapped only if the file system keeps a page that has its block: a later store to such a
// page cannot fail. On copy-on-write file systems it can (a full disk is a SIGBUS), over a network
// it can at any time, and an overlay does not show what lies below it.
inline constexpr FileSystem kFileSystems[] = {
    {0xef53, "ext4", Storage::mapped, false},  // ext2 and ext3 share the number
    {0x58465342, "xfs", Storage::mapped, false},
    {0x01021994, "tmpfs", Storage::mapped, false},
    {0x9123683e, "btrfs", Storage::drained, false},
    {0x2fc12fc1, "zfs", Storage::drained, false},
    {0xca451a4e, "bcachefs", Storage::drained, false},
    {0xf2f52010, "f2fs", Storage::drained, false},
    {0x794c7630, "overlay", Storage::drained, false},
    {0x6969, "nfs", Storage::drained, true},
    {0x0bd00bd0, "lustre", Storage::drained, true},
    {0x47504653, "gpfs", Storage::drained, true},
    {0x19830326, "beegfs", Storage::drained, true},
    {0x00c36400, "ceph", Storage::drained, true},
    {0xff534d42, "cifs", Storage::drained, true},
    {0xfe534d42, "smb2", Storage::drained, true},
    {0x517b, "smb", Storage::drained, true},
    {0x65735546, "fuse", Storage::drained, true},
    {0x5346414f, "afs", Storage::drained, true},
    {0x6b414653, "afs", Storage::drained, true},
    {0x01021997, "9p", Storage::drained, true},
    {0x20030528, "orangefs", Storage::drained, true},
    {0xaad7aaea, "panfs", Storage::drained, true},
    {0x01161970, "gfs2", Storage::drained, true},
    {0x7461636f, "ocfs2", Storage::drained, true},
};

// An unknown file system counts as remote.
constexpr FileSystem file_system_of(std::uint32_t type) {
  for (const FileSystem& known : kFileSystems) {
    if (known.type == type) return known;
  }
  return {type, "unknown", Storage::drained, true};
}

}  // namespace uctrace::log
