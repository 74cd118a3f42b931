// The events of UCX's memory hooks: the UCX with hooks of the tests, whose hooks of CUDA patch the
// virtual driver.
//
//     memory_events_test PREFIX      exits with 77 where there is no UCX with CUDA

#include <dlfcn.h>

#include <cstring>
#include <filesystem>
#include <string>

#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "device-attributor/memory_events.hpp"
#include "tests/virtual-gpu/alone.hpp"

namespace {

using namespace uctrace::gpu;
namespace log = uctrace::log;

std::string prefix;
MemoryEnd last_end;

const Listener kListener{.defined = [](MemoryId, const Answer&) { return true; },
                         .ended = [](MemoryId, MemoryEnd end) { last_end = end; },
                         .failed = [](int) {}};

// Of libucs and what it is linked with.
void* find_in_ucx(const char* function) {
  static void* const library =
      dlopen((prefix + "/lib/libucs.so.0").c_str(), RTLD_NOW | RTLD_GLOBAL);
  EXPECT(library != nullptr);
  return dlsym(library, function);
}

// Of its version, 1.x.
unsigned ucx_minor() {
  void* const library = dlopen((prefix + "/lib/libucp.so.0").c_str(), RTLD_NOW | RTLD_GLOBAL);
  EXPECT(library != nullptr);
  using GetVersion = void (*)(unsigned*, unsigned*, unsigned*);
  unsigned major, minor, release;
  reinterpret_cast<GetVersion>(dlsym(library, "ucp_get_version"))(&major, &minor, &release);
  return minor;
}

// As UCX does at its first query of a memory type.
void install_hooks() {
  using LookUp = int (*)(const void*, std::size_t, void*);
  const auto look_up = reinterpret_cast<LookUp>(find_in_ucx("ucs_memtype_cache_lookup"));
  char own, answer[256];
  look_up(&own, 1, answer);
}

Attributor& watching_attributor() {
  static Attributor& only = *new Attributor();
  const char* missing;
  EXPECT(kCuda.resolve(dlopen(kCuda.library, RTLD_LAZY | RTLD_NOLOAD), &missing));
  only.use(kCuda, kListener);
  void* set = find_in_ucx("ucm_set_event_handler");
  EXPECT(watch_memory_events(set, only) == Events::watched);
  return only;
}

}  // namespace

TEST_CASE("memory events: from when UCX has its hooks on, the end of an allocation is told") {
  CHECK(run_alone({}, [] {
          use_device(0);
          Attributor& attributor = watching_attributor();
          install_hooks();
          const CUdeviceptr device = allocate();
          const MemoryId memory = attributor.memory_of(device);
          EXPECT(attributor.memory_of(device + kBytes / 2) == memory);
          WELL(cuMemFree(device));
          EXPECT(last_end == MemoryEnd::freed);
          EXPECT(attributor.memory_of(device) == log::kHostMemory);
          EXPECT(allocate() == device && attributor.memory_of(device) != memory);
        }) == 0);
}

// UCX 1.13 does not hook pools: the next allocation at the address is recognized as another one.
// Later ones do.
TEST_CASE("memory events: the memory of a pool is another one's after it was freed") {
  CHECK(run_alone({}, [] {
          use_device(0);
          Attributor& attributor = watching_attributor();
          install_hooks();
          CUdeviceptr pool;
          WELL(cuMemAllocAsync(&pool, kBytes, nullptr));
          const MemoryId memory = attributor.memory_of(pool);
          EXPECT(attributor.memory_of(pool) == memory);
          WELL(cuMemFreeAsync(pool, nullptr));
          EXPECT(allocate() == pool);
          EXPECT(attributor.memory_of(pool) != memory);
          EXPECT(last_end == (ucx_minor() <= 13 ? MemoryEnd::replaced : MemoryEnd::freed));
        }) == 0);
}

TEST_CASE("memory events: there may be none") {
  Attributor& attributor = *new Attributor();
  CHECK(watch_memory_events(nullptr, attributor) == Events::missing);
}

int main(int argc, char** argv) {
  prefix = argc > 1 ? argv[1] : "";
  if (!std::filesystem::exists(prefix + "/lib/ucx/libucm_cuda.so.0")) {
    std::printf("SKIP: there is no UCX with CUDA in %s\n", prefix.c_str());
    return 77;
  }
  return doctest::Context().run();
}
