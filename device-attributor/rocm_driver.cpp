// The layer of ROCm: hsa_amd_pointer_info. The prototypes are our own, so no ROCm is needed; their
// numbers are part of HSA's ABI. HIP, the layer above, is not asked: its functions would initialise
// it.
#include <string.h>

#include <atomic>
#include <cstddef>

#include "device-attributor/driver_functions.hpp"
#include "device-attributor/vendor.hpp"

namespace uctrace::gpu::rocm {

namespace {

using Status = int;
using Agent = std::uint64_t;  // hsa_agent_t: a structure with only a handle, passed like one
using Pool = std::uint64_t;   // hsa_amd_memory_pool_t

constexpr Status kSuccess = 0, kNotInitialized = 0x100B;

// hsa_agent_info_t and its extension hsa_amd_agent_info_t.
constexpr int kName = 0, kDeviceType = 17, kBusAndFunction = 0xA006, kProductName = 0xA009,
              kDomain = 0xA00F, kUuid = 0xA011;
constexpr int kGpu = 1;  // HSA_DEVICE_TYPE_GPU
// hsa_system_info_t, hsa_amd_memory_pool_info_t.
constexpr int kVersionMajor = 0, kVersionMinor = 1, kPoolSize = 2;

constexpr std::size_t kTextBytes = 64;  // of names; of a UUID at most 21

// hsa_amd_pointer_type_t. The last two exist since version 1.12 of AMD's extension. Earlier
// versions do not know memory that is mapped at reserved addresses.
enum class PointerType : int {
  unknown = 0,  // not the driver's: the program's own
  hsa = 1,
  locked = 2,
  graphics = 3,
  imported = 4,
  reserved = 5,  // addresses only
  mapped = 6,
};

// hsa_amd_pointer_info_t, which grows at its end.
struct PointerInfo {
  std::uint32_t size;  // of the structure; less if the driver knows fewer fields
  PointerType type;
  std::uintptr_t agent_begin, host_begin;
  std::size_t bytes;
  void* user_data;
  Agent owner;
};

using VisitAgent = Status (*)(Agent, void*);
using VisitPool = Status (*)(Pool, void*);

struct Functions {
  Status (*get_system)(int, void*);
  Status (*each_agent)(VisitAgent, void*);
  Status (*get_agent)(Agent, int, void*);
  Status (*get_pointer)(const void*, PointerInfo*, void*, std::uint32_t*, void*);
  // nullptr: the size of a GPU's memory will not be known.
  Status (*each_pool)(Agent, VisitPool, void*);
  Status (*get_pool)(Pool, int, void*);
};
constinit Functions driver{};

bool resolve(void* library, const char** missing) {
  const NeededFunctions need{library, missing};
  find_function(library, "hsa_amd_agent_iterate_memory_pools", driver.each_pool);
  find_function(library, "hsa_amd_memory_pool_get_info", driver.get_pool);
  return need("hsa_system_get_info", driver.get_system) &&
         need("hsa_iterate_agents", driver.each_agent) &&
         need("hsa_agent_get_info", driver.get_agent) &&
         need("hsa_amd_pointer_info", driver.get_pointer);
}

// As CUDA counts versions: 1.1 is 1010.
int version() {
  std::uint16_t major = 0, minor = 0;
  const bool told = driver.get_system(kVersionMajor, &major) == kSuccess &&
                    driver.get_system(kVersionMinor, &minor) == kSuccess;
  return told ? major * 1000 + minor * 10 : 0;
}

// --- the GPUs ------------------------------------------------------------------------------------

// Agents that are GPUs, in the order in which they were found: the ordinal of an agent never
// changes.
constexpr int kMostGpus = 64;
constinit std::atomic<Agent> gpus[kMostGpus]{};  // 0: nobody's

bool is_gpu(Agent agent) {
  int type = 0;
  return driver.get_agent(agent, kDeviceType, &type) == kSuccess && type == kGpu;
}

void add_gpu(Agent agent) {
  for (std::atomic<Agent>& one : gpus) {
    Agent before = 0;
    if (one.compare_exchange_strong(before, agent, std::memory_order_acq_rel) || before == agent) {
      return;
    }
  }
}

struct Agents {
  static constexpr std::size_t kMost = 256;
  Agent all[kMost];
  std::size_t count;
};

// A callback: it must not ask the driver.
Status note_agent(Agent agent, void* data) {
  auto& agents = *static_cast<Agents*>(data);
  if (agents.count < Agents::kMost) agents.all[agents.count++] = agent;
  return kSuccess;
}

// None before the program initialises the driver.
int device_count() {
  Agents agents;
  agents.count = 0;
  if (driver.each_agent(note_agent, &agents) != kSuccess) return 0;
  for (std::size_t i = 0; i < agents.count; ++i) {
    if (is_gpu(agents.all[i])) add_gpu(agents.all[i]);
  }
  int count = 0;
  while (count < kMostGpus && gpus[count].load(std::memory_order_acquire) != 0) ++count;
  return count;
}

int find_ordinal(Agent agent) {
  for (int ordinal = 0; ordinal < kMostGpus; ++ordinal) {
    const Agent one = gpus[ordinal].load(std::memory_order_acquire);
    if (one == agent) return ordinal;
    if (one == 0) break;
  }
  return -1;
}

// -1: it is no GPU. False: the driver cannot tell what it is.
bool find_owner(Agent agent, int& ordinal) {
  ordinal = find_ordinal(agent);
  int type = 0;
  if (ordinal >= 0) return true;
  if (driver.get_agent(agent, kDeviceType, &type) != kSuccess) return false;
  if (type != kGpu) return true;
  device_count();  // all of them, in the driver's order
  ordinal = find_ordinal(agent);
  return true;
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// "GPU-" and 16 hexadecimal digits; "GPU-XX" where the GPU has none, which leaves zeros.
void read_uuid(const char* text, unsigned char (&uuid)[16]) {
  constexpr std::size_t kPrefix = 4, kBytes = 8;
  unsigned char told[kBytes];
  for (std::size_t i = 0; i < kBytes; ++i) {
    const int high = digit_of(text[kPrefix + 2 * i]);
    const int low = high < 0 ? -1 : digit_of(text[kPrefix + 2 * i + 1]);
    if (low < 0) return;
    told[i] = static_cast<unsigned char>(high << 4 | low);
  }
  memcpy(uuid, told, kBytes);
}

// A GPU has several pools of the same memory.
Status note_largest(Pool pool, void* data) {
  std::size_t bytes = 0;
  auto& largest = *static_cast<std::uint64_t*>(data);
  if (driver.get_pool(pool, kPoolSize, &bytes) == kSuccess && bytes > largest) largest = bytes;
  return kSuccess;
}

bool describe(int ordinal, DeviceFacts& facts) {
  const Agent agent =
      ordinal >= 0 && ordinal < kMostGpus ? gpus[ordinal].load(std::memory_order_acquire) : 0;
  std::uint32_t place = 0, domain = 0;
  char uuid[kTextBytes + 1]{};
  if (agent == 0 || driver.get_agent(agent, kBusAndFunction, &place) != kSuccess) return false;
  // Stays zero if an older driver does not tell it.
  if (driver.get_agent(agent, kDomain, &domain) != kSuccess) domain = 0;
  if (driver.get_agent(agent, kUuid, uuid) == kSuccess) read_uuid(uuid, facts.uuid);
  if (driver.get_agent(agent, kProductName, facts.name) != kSuccess || facts.name[0] == '\0') {
    driver.get_agent(agent, kName, facts.name);
  }
  memcpy(facts.gpu_uuid, facts.uuid, sizeof facts.uuid);
  facts.pci_domain = domain;
  facts.pci_bus = static_cast<std::uint8_t>(place >> 8);
  facts.pci_device = static_cast<std::uint8_t>(place >> 3 & 0x1f);
  facts.pci_function = static_cast<std::uint8_t>(place & 7);
  if (driver.each_pool != nullptr && driver.get_pool != nullptr) {
    driver.each_pool(agent, note_largest, &facts.memory_bytes);
  }
  return true;
}

// --- what an address is --------------------------------------------------------------------------

Answer failed(Status error) { return {.what = Answer::What::failed, .error = error}; }

bool holds(std::uintptr_t begin, std::size_t bytes, std::uintptr_t address) {
  return address - begin < bytes;
}

// Locked memory has two addresses: the program's and that of the GPUs. For mapped memory some
// drivers return the address in question as the beginning: the real one is then not known.
void set_extent(const PointerInfo& info, std::uintptr_t address, Answer& answer) {
  answer.begin = info.host_begin != 0 && holds(info.host_begin, info.bytes, address)
                     ? info.host_begin
                     : info.agent_begin;
  answer.bytes = info.type == PointerType::mapped && answer.begin == address ? 0 : info.bytes;
}

DeviceMemoryKind kind_of(PointerType type, bool on_gpu) {
  switch (type) {
    case PointerType::mapped:
      return on_gpu ? DeviceMemoryKind::mapped : DeviceMemoryKind::mapped_host;
    case PointerType::imported:
      return DeviceMemoryKind::imported;
    default:
      return on_gpu ? DeviceMemoryKind::device : DeviceMemoryKind::pinned;
  }
}

// Memory of another process may be on a GPU that this process does not see.
Answer known_memory(const PointerInfo& info, std::uintptr_t address) {
  int ordinal = -1;
  if (info.type != PointerType::locked && !find_owner(info.owner, ordinal) &&
      info.type != PointerType::imported) {
    return failed(kUnknownLocation);
  }
  Answer answer{
      .what = Answer::What::known, .kind = kind_of(info.type, ordinal >= 0), .device = ordinal};
  set_extent(info, address, answer);
  return answer;
}

// No id distinguishes memory from its successor at the same address.
Answer query(std::uintptr_t address) {
  PointerInfo info{};
  info.size = sizeof info;
  const Status status =
      driver.get_pointer(reinterpret_cast<const void*>(address), &info, nullptr, nullptr, nullptr);
  if (status == kNotInitialized) return {.what = Answer::What::host};
  if (status != kSuccess) return failed(status);
  switch (info.type) {
    case PointerType::unknown:
    case PointerType::reserved:
      return {.what = Answer::What::host};
    case PointerType::hsa:
    case PointerType::locked:
    case PointerType::graphics:
    case PointerType::imported:
    case PointerType::mapped:
      // Without the owner the device is not known.
      return info.size < sizeof info ? failed(kUnknownLocation) : known_memory(info, address);
    default:
      return failed(kUnknownLocation);
  }
}

}  // namespace

}  // namespace uctrace::gpu::rocm

namespace uctrace::gpu {

constinit const Vendor kRocm{.name = log::Vendor::rocm,
                             .library = "libhsa-runtime64.so.1",
                             .resolve = rocm::resolve,
                             .version = rocm::version,
                             .device_count = rocm::device_count,
                             .describe = rocm::describe,
                             .query = rocm::query};

}  // namespace uctrace::gpu
