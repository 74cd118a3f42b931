#include "tests/sanitizers/stand_in_gpu.hpp"

#include <atomic>

#include "device-attributor/vendor.hpp"

namespace uctrace::gpu {

namespace test {

namespace {

alignas(kPartBytes) constinit unsigned char memory[kParts][kPartBytes]{};
constinit std::atomic<std::uint64_t> ids[kParts]{};  // 0: not allocated
constinit std::atomic<std::uint64_t> last_id{100};
constinit std::atomic<int> failure{0};

std::uint64_t id_at(std::uintptr_t address) {
  const unsigned number = part_at(reinterpret_cast<const void*>(address));
  return number < kParts ? ids[number].load() : 0;
}

int buffer_id(std::uintptr_t address, std::uint64_t& id) {
  id = id_at(address);
  return failure.load();
}

bool resolve(void*, const char**) { return true; }
int version() { return 12345; }
int device_count() { return 1; }

bool describe(int, DeviceFacts& facts) {
  facts.uuid[0] = facts.gpu_uuid[0] = 7;
  facts.pci_bus = 0x10;
  facts.memory_bytes = sizeof memory;
  return true;
}

Answer query(std::uintptr_t address) {
  if (const int error = failure.load(); error != 0) return {.error = error};
  const std::uint64_t id = id_at(address);
  if (id == 0) return {.what = Answer::What::host};
  return {.what = Answer::What::known,
          .kind = DeviceMemoryKind::device,
          .device = 0,
          .begin = address / kPartBytes * kPartBytes,
          .bytes = kPartBytes,
          .buffer_id = id};
}

// Its library is one that every program has loaded, and no device of it is looked for.
constexpr Vendor kStandIn{.name = log::Vendor::cuda,
                          .library = "libc.so.6",
                          .resolve = resolve,
                          .version = version,
                          .device_count = device_count,
                          .describe = describe,
                          .query = query,
                          .buffer_id = buffer_id};

}  // namespace

unsigned char* part(unsigned number) { return memory[number]; }

unsigned part_at(const void* address) {
  const std::uintptr_t offset =
      reinterpret_cast<std::uintptr_t>(address) - reinterpret_cast<std::uintptr_t>(memory);
  return offset < sizeof memory ? static_cast<unsigned>(offset / kPartBytes) : kParts;
}

std::uint64_t allocate(unsigned number) { return ids[number] = ++last_id; }
void release(unsigned number) { ids[number] = 0; }
bool is_allocated(const void* address) {
  return id_at(reinterpret_cast<std::uintptr_t>(address)) != 0;
}
void fail_with(int error) { failure = error; }

}  // namespace test

constinit const Vendor* const kVendors[] = {&test::kStandIn, nullptr};

}  // namespace uctrace::gpu
