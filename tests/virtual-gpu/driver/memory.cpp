#include "memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "face.hpp"
#include "settings.hpp"

namespace virtual_gpu {

namespace {

// The same in all processes, as the driver's often are. Neither the loader nor malloc comes here.
// Beyond those of the devices there is one area for each of the other uses.
constexpr std::size_t kAreaBytes = std::size_t{1} << 36;
constexpr Address kReservations = 0x100000000000, kImports = 0x110000000000;

constexpr std::size_t kSmallBytes = std::size_t{1} << 20;

// Small ones lie next to each other, page by page.
std::size_t unit_of(std::size_t bytes) {
  return bytes < kSmallBytes ? kPageBytes : kLargePageBytes;
}

// The CPU may read and write memory of a device, as on machines whose processors reach all of it.
void set_access(const Allocation& allocation, bool accessible) {
  if (!settings().readable || !allocation.on_device()) return;
  void* const at = reinterpret_cast<void*>(allocation.begin);
  const std::size_t bytes = rounded(allocation.bytes, kPageBytes);
  const void* const mapped =
      accessible ? mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
                        allocation.block->file(), static_cast<off_t>(allocation.offset))
                 : mmap(at, bytes, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
  if (mapped != at) {
    std::perror("virtual GPU: its memory cannot be made accessible");
    std::abort();
  }
}

}  // namespace

std::shared_ptr<Block> Block::make(std::size_t bytes) {
  const int file = memfd_create("virtual-gpu", MFD_CLOEXEC);
  if (file < 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) {
    if (file >= 0) close(file);
    return nullptr;
  }
  return of_file(file, bytes);
}

std::shared_ptr<Block> Block::of_file(int file, std::size_t bytes) {
  void* data = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (data == MAP_FAILED) {
    close(file);
    return nullptr;
  }
  return std::shared_ptr<Block>(new Block(file, bytes, static_cast<unsigned char*>(data)));
}

Block::~Block() {
  munmap(data_, bytes_);
  close(file_);
}

// The whole area is reserved by the driver from the beginning, without access rights.
Area::Area(Address begin, std::size_t bytes) : begin_(begin), bytes_(bytes) {
  void* const wanted = reinterpret_cast<void*>(begin);
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
  if (mmap(wanted, bytes, PROT_NONE, kFlags, -1, 0) != wanted) {
    std::perror("virtual GPU: its addresses are in use");
    std::abort();
  }
}

Address Area::take(std::size_t bytes, std::size_t alignment) {
  Address at = rounded(begin_, alignment);
  for (const auto& [begin, taken] : taken_) {
    if (begin >= at + bytes) break;
    at = std::max<Address>(at, rounded(begin + taken, alignment));
  }
  if (at + bytes > begin_ + bytes_) return 0;
  taken_[at] = bytes;
  return at;
}

bool Area::take_at(Address at, std::size_t bytes) {
  if (at < begin_ || at + bytes > begin_ + bytes_) return false;
  const auto next = taken_.lower_bound(at);
  if (next != taken_.end() && next->first < at + bytes) return false;
  if (next != taken_.begin() && std::prev(next)->first + std::prev(next)->second > at) return false;
  taken_[at] = bytes;
  return true;
}

Area::Place Area::place_at(Address address) const {
  const auto next = taken_.upper_bound(address);
  if (next == taken_.begin()) return {address, 0};
  return {std::prev(next)->first, std::prev(next)->second};
}

bool Area::give_back(Address begin) { return taken_.erase(begin) != 0; }

Memory::Memory()
    : reservations_(kFace.first_address + kReservations, kAreaBytes),
      imports_(kFace.first_address + kImports, kAreaBytes) {}

Area& Memory::area_of(CUdevice device) {
  const Address begin = kFace.first_address + static_cast<Address>(device) * kAreaBytes;
  return device_areas_.try_emplace(device, begin, kAreaBytes).first->second;
}

Allocation& Memory::add(Allocation allocation) {
  allocation.id = new_id();
  set_access(allocation, true);
  return allocations_[allocation.begin] = std::move(allocation);
}

void Memory::remove(const Allocation& allocation) {
  set_access(allocation, false);
  allocations_.erase(allocation.begin);
}

Allocation* Memory::allocate_on(CUdevice device, Allocation like, std::size_t bytes) {
  const std::size_t unit = unit_of(bytes);
  like.device = device;
  like.bytes = bytes;
  like.reserved = rounded(bytes, unit);
  like.block = Block::make(like.reserved);
  if (like.block == nullptr) return nullptr;
  like.begin = area_of(device).take(like.reserved, unit);
  return like.begin != 0 ? &add(std::move(like)) : nullptr;
}

Allocation* Memory::allocate_readable(Allocation like, std::size_t bytes) {
  like.bytes = bytes;
  like.reserved = rounded(bytes, kPageBytes);
  like.block = Block::make(like.reserved);
  if (like.block == nullptr) return nullptr;
  like.begin = reinterpret_cast<Address>(like.block->data());
  return &add(std::move(like));
}

Allocation* Memory::map(Address at, std::size_t bytes, const std::shared_ptr<Physical>& physical,
                        std::size_t offset) {
  if (offset + bytes > physical->block->bytes() || !reservations().holds(at) ||
      find(at) != nullptr) {
    return nullptr;
  }
  const CUmemLocation& location = physical->properties.location;
  const bool on_device = location.type == CU_MEM_LOCATION_TYPE_DEVICE;
  return &add({.kind = Kind::mapped,
               .begin = at,
               .bytes = bytes,
               .device = on_device ? location.id : CU_DEVICE_INVALID,
               .block = physical->block,
               .offset = offset,
               .physical = physical,
               .accessible = false});
}

void Memory::release(const Allocation& allocation) {
  if (allocation.kind == Kind::imported) {
    imports().give_back(allocation.begin);
  } else if (allocation.on_device() && allocation.kind != Kind::mapped) {
    area_of(allocation.device).give_back(allocation.begin);
  }
  remove(allocation);
}

Allocation* Memory::find(Address address) {
  const auto next = allocations_.upper_bound(address);
  if (next == allocations_.begin()) return nullptr;
  Allocation& before = std::prev(next)->second;
  return address - before.begin < before.bytes ? &before : nullptr;
}

Allocation* Memory::find_beginning(Address address) {
  const auto found = allocations_.find(address);
  return found != allocations_.end() ? &found->second : nullptr;
}

Memory::Piece Memory::piece_at(Address address, std::size_t most) {
  const Allocation* allocation = find(address);
  if (allocation == nullptr || !allocation->on_device()) {
    const bool nowhere = reservations_.holds(address) || imports_.holds(address) ||
                         std::any_of(device_areas_.begin(), device_areas_.end(),
                                     [&](auto& area) { return area.second.holds(address); });
    return {reinterpret_cast<unsigned char*>(address), most,
            nowhere ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS};
  }
  const std::size_t at = address - allocation->begin;
  return {allocation->block->data() + allocation->offset + at,
          std::min(most, allocation->bytes - at),
          allocation->accessible ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_ADDRESS};
}

CUresult Memory::copy(Address to, Address from, std::size_t bytes) {
  while (bytes > 0) {
    const Piece target = piece_at(to, bytes);
    const Piece source = piece_at(from, target.bytes);
    if (target.result != CUDA_SUCCESS) return target.result;
    if (source.result != CUDA_SUCCESS) return source.result;
    std::memmove(target.data, source.data, source.bytes);
    to += source.bytes;
    from += source.bytes;
    bytes -= source.bytes;
  }
  return CUDA_SUCCESS;
}

CUresult Memory::fill(Address to, unsigned value, std::size_t value_bytes, std::size_t count) {
  for (std::size_t left = count * value_bytes; left > 0;) {
    const Piece piece = piece_at(to, left);
    if (piece.result != CUDA_SUCCESS) return piece.result;
    for (std::size_t at = 0; at < piece.bytes; at += value_bytes) {
      std::memcpy(piece.data + at, &value, value_bytes);
    }
    to += piece.bytes;
    left -= piece.bytes;
  }
  return CUDA_SUCCESS;
}

Memory& memory() {
  static Memory& only = *new Memory();
  return only;
}

}  // namespace virtual_gpu
