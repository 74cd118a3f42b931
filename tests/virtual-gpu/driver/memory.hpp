// The driver's memory. The program sees addresses of device memory that it cannot access: they lie
// in areas mapped without access rights. The contents are in memory files, which only the driver
// maps, at addresses that it keeps private.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>

namespace virtual_gpu {

using Address = CUdeviceptr;

inline constexpr std::size_t kMemoryBytes = std::size_t{16} << 30;  // of each GPU
inline constexpr std::size_t kPageBytes = 4096;
inline constexpr std::size_t kLargePageBytes = std::size_t{2} << 20;  // of VMM, as on GPUs

constexpr std::size_t rounded(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

// Memory itself: a file in memory and the driver's own mapping of it.
class Block {
 public:
  // nullptr: there is no memory left.
  static std::shared_ptr<Block> make(std::size_t bytes);
  // Another process's. Takes the file over.
  static std::shared_ptr<Block> of_file(int file, std::size_t bytes);
  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;
  ~Block();

  int file() const { return file_; }
  std::size_t bytes() const { return bytes_; }
  unsigned char* data() const { return data_; }

 private:
  Block(int file, std::size_t bytes, unsigned char* data)
      : file_(file), bytes_(bytes), data_(data) {}
  int file_;
  std::size_t bytes_;
  unsigned char* data_;
};

enum class Kind : unsigned char {
  device,
  pool,
  mapped,      // VMM
  imported,    // of another process, by an IPC handle
  managed,     // the CPU reads it at its address
  host,        // pinned, allocated by the driver
  registered,  // pinned, the program's own
};

// Physical memory of VMM, which has no address of its own.
struct Physical {
  std::shared_ptr<Block> block;
  CUmemAllocationProp properties{};
  std::uint64_t id = 0;
};

struct Allocation {
  Kind kind = Kind::device;
  Address begin = 0;
  std::size_t bytes = 0;     // as asked for
  std::size_t reserved = 0;  // of the address space
  CUdevice device = 0;
  std::shared_ptr<Block> block = nullptr;  // none: the program's own memory
  std::size_t offset = 0;                  // in the block
  std::uint64_t id = 0;                    // no other allocation of the process ever has it
  CUcontext context = nullptr;             // none of pools and VMM
  CUmemoryPool pool = nullptr;
  std::shared_ptr<Physical> physical = nullptr;  // VMM
  bool accessible = true;                        // VMM: by cuMemSetAccess

  bool on_device() const { return kind <= Kind::imported; }
  bool pinned() const { return kind >= Kind::host; }
};

// The range of addresses that allocations of a kind are given places in: the lowest that is free,
// so that an address that was given back is used again at once.
class Area {
 public:
  Area(Address begin, std::size_t bytes);
  // 0: there is no place.
  Address take(std::size_t bytes, std::size_t alignment);
  // The place at this address, if it is free.
  bool take_at(Address at, std::size_t bytes);
  bool give_back(Address begin);
  bool holds(Address address) const { return address - begin_ < bytes_; }
  struct Place {
    Address begin;
    std::size_t bytes;
  };
  // That was taken and has the address; of no length if there is none.
  Place place_at(Address address) const;

 private:
  Address begin_;
  std::size_t bytes_;
  std::map<Address, std::size_t> taken_;
};

class Memory {
 public:
  Memory();
  Area& area_of(CUdevice device);
  Area& reservations() { return reservations_; }
  Area& imports() { return imports_; }

  // New memory of a device, which needs no more than its kind in `like`, and such of the host or
  // managed, which the CPU reads and writes at its address. nullptr: there is none left.
  Allocation* allocate_on(CUdevice device, Allocation like, std::size_t bytes);
  Allocation* allocate_readable(Allocation like, std::size_t bytes);
  // Physical memory at addresses that were reserved. nullptr: they were not, or it is not so large.
  Allocation* map(Address at, std::size_t bytes, const std::shared_ptr<Physical>& physical,
                  std::size_t offset);
  // Its place may be used again.
  void release(const Allocation& allocation);

  // Gives it its id and keeps it.
  Allocation& add(Allocation allocation);
  void remove(const Allocation& allocation);
  // That has the address; nullptr: none.
  Allocation* find(Address address);
  Allocation* find_beginning(Address address);
  std::uint64_t new_id() { return ++last_id_; }

  // Moves bytes, also to and from the program's own memory.
  CUresult copy(Address to, Address from, std::size_t bytes);
  CUresult fill(Address to, unsigned value, std::size_t value_bytes, std::size_t count);

 private:
  struct Piece {
    unsigned char* data;
    std::size_t bytes;  // that follow each other there
    CUresult result;
  };
  Piece piece_at(Address address, std::size_t most);

  std::map<Address, Allocation> allocations_;
  std::map<CUdevice, Area> device_areas_;
  Area reservations_, imports_;
  std::uint64_t last_id_ = 0;
};

// The process's. Lives until its end, also for those who call late.
Memory& memory();

}  // namespace virtual_gpu
