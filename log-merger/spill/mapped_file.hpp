// An unnamed, growing file mapped at one range of addresses. Private to the spilling.
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>

namespace uctrace::spill {

inline constexpr std::uint64_t kPageBytes = 4096;
constexpr std::uint64_t round_up_to_page(std::uint64_t bytes) {
  return (bytes + kPageBytes - 1) & ~(kPageBytes - 1);
}

class MappedFile {
 public:
  MappedFile() = default;
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;

  // Makes it in `folder`; nobody else sees it, and nothing is left when the process ends. False: no
  // range of addresses is available. Throws std::system_error.
  bool open(const std::filesystem::path& folder);

  // The next `bytes` (whole pages) of zeros, with room on the disk; nullptr: no room. One thread at
  // a time.
  void* take(std::uint64_t bytes);
  // Releases memory and room on the disk. Addresses are not reused. False: the file system cannot
  // release room.
  bool release(void* begin, std::uint64_t bytes);

  bool holds(const void* address) const {
    return begin_ <= address && address < begin_ + kMostBytes;
  }

  // Removes everything taken from this process's memory until it is used again. At any time, from
  // any thread.
  void give_back_memory();

 private:
  // More than any disk for a merge; addresses cost nothing.
  static constexpr std::uint64_t kMostBytes = std::uint64_t{8} << 40;
  static constexpr std::uint64_t kStep = std::uint64_t{256} << 20;  // mapped at once

  bool map_up_to(std::uint64_t end);
  bool make_room(std::uint64_t begin, std::uint64_t bytes) const;

  int fd_ = -1;
  char* begin_ = nullptr;
  std::atomic<std::uint64_t> taken_ = 0;
  std::uint64_t mapped_ = 0;
};

}  // namespace uctrace::spill
