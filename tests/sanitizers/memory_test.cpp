// The memory of operations, as reported by stand-ins for a driver and for UCX: each operation names
// the allocation that was at its address when it was posted.
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <vector>

#include "tests/sanitizers/stand_in.hpp"
#include "tests/sanitizers/stand_in_gpu.hpp"
#include "tests/sanitizers/traffic.hpp"
#include "tests/unit/recording_folder.hpp"
#include "ucp-shim/buffer_memory.hpp"

namespace uctrace::log::test {
namespace {

using gpu::test::kPartBytes;
using gpu::test::part;

// What a log says of memory.
struct Memory {
  std::map<MemoryId, DeviceMemory> met;
  std::map<MemoryId, DeviceMemoryEnd> over;
  std::vector<GpuDriver> drivers;
  std::vector<GpuDevice> devices;
  std::vector<Fault> faults;
  std::uint64_t words = 0;  // in records
  LaneCounters counted;

  explicit Memory(const LogFile& log) : counted(Found(log).counted) {
    CHECK_FALSE(log.damage().any());
    log.for_each_record(Stream::definitions, [&](std::uint16_t, const auto& view) { take(view); });
    log.for_each_record(Stream::events, [&](std::uint16_t, const auto& view) { take(view); });
  }

  void take(const DeviceMemoryView& view) { met[view.id()] = view.r; }
  void take(const DeviceMemoryEndView& view) { over[view.id()] = view.r; }
  void take(const GpuDriverView& view) { drivers.push_back(view.r); }
  void take(const GpuDeviceView& view) { devices.push_back(view.r); }
  void take(const FaultView& view) {
    if (view.r.layer == Layer::gpu) faults.push_back(view.r);
  }
  void take(const UcpOperationView& view) { words += (view.flags() & UcpOperation::kMemory) != 0; }
  void take(const UctOperationView& view) { words += (view.r.marks & UctOperation::kMemory) != 0; }
  template <typename Other>
  void take(const Other&) {}

  // Of an operation that used the allocation with this buffer id, 0 = none. Without an extent (the
  // table was busy) the memory is of one operation alone.
  bool is_right(MemoryId memory, std::uint64_t address, std::uint64_t buffer_id) const {
    if (buffer_id == 0) return memory == kHostMemory;
    const auto found = met.find(memory);
    return found != met.end() && found->second.buffer_id == buffer_id &&
           (found->second.bytes == 0 || address - found->second.begin < found->second.bytes);
  }
};

std::vector<UcpOperationView> sends_of(const LogFile& log) {
  std::vector<UcpOperationView> sends;
  log.for_each_record(Stream::events, [&](std::uint16_t, const UcpOperationView& view) {
    if (family_of(view.function()) == UcpFamily::tag_send) sends.push_back(view);
  });
  return sends;
}

// The tag says what the buffer is: the test's own account.
void send(Messenger& messenger, const void* buffer, std::uint64_t buffer_id) {
  const ucp_request_param_t defaults{};
  Messenger::wait(ucp_tag_send_nbx(messenger.endpoint, buffer, 8, buffer_id, &defaults));
}

// Runs `body` with a worker, in a process of its own. All that it began is over at the end.
template <typename Body>
void record(const Folder& folder, Body body) {
  folder.run([&] {
    stand_in_start();
    {
      Messenger messenger;
      body(messenger);
      stand_in_stop();
    }
    return true;
  });
}

TEST_CASE("memory: each send names what was at its address, however often that is used again") {
  const Folder folder;
  record(folder, [](Messenger& messenger) {
    stand_in_memory_types(gpu::test::is_allocated);
    in_threads([&](unsigned thread) {
      const bool told = thread % 2 == 0;  // of the others UCX sees nothing
      const std::uint64_t own = 0;
      for (unsigned i = 0; i < kRounds; ++i) {
        const std::uint64_t id = gpu::test::allocate(thread);
        if (told) stand_in_memory_event(true, part(thread), kPartBytes);
        for (const unsigned offset : {0u, i, 4000u}) send(messenger, part(thread) + offset, id);
        send(messenger, &own, 0);
        if (told) stand_in_memory_event(false, part(thread), kPartBytes);
        gpu::test::release(thread);
        send(messenger, part(thread), 0);
      }
    });
  });
  const LogFile log = folder.log();
  const Memory memory(log);
  std::size_t wrong = 0, disbelieved = 0;
  for (const UcpOperationView& view : sends_of(log)) {
    const bool device = view.r.tag != 0;
    wrong += !memory.is_right(view.memory.own, view.r.buffer, view.r.tag);
    disbelieved +=
        view.memory.believed != (device ? Belief::cuda : Belief::host) ||
        view.memory.believed_device != (device ? kStandInDevice : OperationMemory::kNoDevice) ||
        view.memory.believed_from != BeliefFrom::cache;
  }
  // An allocation missing from the log, for lack of a chunk, was used three times.
  CHECK(wrong <= 3 * memory.counted.dropped[static_cast<std::size_t>(DropKind::definition)]);
  CHECK(disbelieved == 0);
  CHECK(sends_of(log).size() + log.dropped_records() >= 5 * kThreads * kRounds);
  CHECK(memory.words == memory.counted.memory_words);
  CHECK(memory.counted.memory_queries > 0);
  CHECK(memory.counted.memory_unknown == 0);
  REQUIRE(memory.drivers.size() == 1);
  CHECK(memory.drivers[0].head.b == 12345);
  REQUIRE(memory.devices.size() == 1);
  CHECK(memory.devices[0].uuid[0] == 7);
}

TEST_CASE("memory: its end is when UCX tells of it, or between its last use and the next") {
  const Folder folder;
  record(folder, [](Messenger& messenger) {
    for (const bool told : {true, false}) {
      const std::uint64_t id = gpu::test::allocate(0);
      if (told) stand_in_memory_event(true, part(0), kPartBytes);
      send(messenger, part(0), id);
      if (told) stand_in_memory_event(false, part(0), kPartBytes);
      gpu::test::release(0);
      send(messenger, part(0), 0);
    }
  });
  const LogFile log = folder.log();
  const Memory memory(log);
  REQUIRE(memory.met.size() == 2);
  REQUIRE(memory.over.size() == 2);
  const auto& [first, freed] = *memory.over.begin();
  CHECK(static_cast<MemoryEnd>(freed.head.a) == MemoryEnd::freed);
  CHECK(freed.alive_tick == freed.tick);
  const auto& [second, replaced] = *memory.over.rbegin();
  CHECK(static_cast<MemoryEnd>(replaced.head.a) == MemoryEnd::replaced);
  CHECK(replaced.alive_tick < replaced.tick);
  CHECK(replaced.alive_tick >= memory.met.at(second).tick);
}

TEST_CASE("memory: what a driver cannot tell is not known, and said once") {
  const Folder folder;
  record(folder, [](Messenger& messenger) {
    const std::uint64_t own = 0;
    gpu::test::fail_with(999);
    for (int i = 0; i < 5; ++i) send(messenger, &own, 0);
    gpu::test::fail_with(0);
    send(messenger, &own, 0);
  });
  const LogFile log = folder.log();
  const Memory memory(log);
  std::map<MemoryId, unsigned> sends;
  for (const UcpOperationView& view : sends_of(log)) ++sends[view.memory.own];
  CHECK(sends == std::map<MemoryId, unsigned>{{kUnknownMemory, 5}, {kHostMemory, 1}});
  CHECK(memory.counted.memory_unknown == 5);
  REQUIRE(memory.faults.size() == 1);
  CHECK(memory.faults[0].value == 999);
}

TEST_CASE("memory: the parts of a list are in one memory, or in several") {
  const Folder folder;
  record(folder, [](Messenger& messenger) {
    std::uint64_t own = 0;
    gpu::test::allocate(0);
    gpu::test::allocate(1);
    using List = std::vector<ucp_dt_iov_t>;
    const List lists[] = {{{part(0), 8}, {part(0) + 100, 8}},
                          {{&own, 4}, {&own, 4}},
                          {{part(0), 8}, {&own, 8}},
                          {{part(1), 8}, {part(0), 8}},  // of one device
                          List(ucp::ListMemory::kMostParts, {part(0), 8}),
                          List(ucp::ListMemory::kMostParts + 1, {part(0), 8})};
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_DATATYPE;
    param.datatype = ucp_dt_make_iov();
    for (const List& list : lists) {
      Messenger::wait(
          ucp_tag_send_nbx(messenger.endpoint, list.data(), list.size(), list.size(), &param));
    }
  });
  const LogFile log = folder.log();
  const Memory memory(log);
  const std::vector<UcpOperationView> sends = sends_of(log);
  REQUIRE(sends.size() == 6);
  REQUIRE(memory.met.size() == 2);
  const MemoryId first = memory.met.begin()->first, second = memory.met.rbegin()->first;
  std::vector<MemoryId> own;
  for (const UcpOperationView& view : sends) own.push_back(view.memory.own);
  CHECK(own == std::vector<MemoryId>{first, kHostMemory, kSeveralMemories, second, first,
                                     kSeveralMemories});
}

TEST_CASE("memory: a callback inside the call frees the buffer, and something else is there") {
  const Folder folder;
  record(folder, [](Messenger& messenger) {
    stand_in_memory_types(gpu::test::is_allocated);
    send(messenger, part(0), gpu::test::allocate(0));  // this one ends without a callback
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK;
    param.cb.send = [](void*, ucs_status_t, void*) {
      gpu::test::release(1);
      gpu::test::allocate(1);
    };
    const std::uint64_t id = gpu::test::allocate(1);
    Messenger::wait(ucp_tag_send_nbx(messenger.endpoint, part(1), 8, id, &param));
  });
  const LogFile log = folder.log();
  const Memory memory(log);
  const std::vector<UcpOperationView> sends = sends_of(log);
  REQUIRE(sends.size() == 2);
  for (const UcpOperationView& view : sends) {
    CHECK(memory.is_right(view.memory.own, view.r.buffer, view.r.tag));
  }
}

TEST_CASE("memory: a caller may say what it is") {
  const Folder folder;
  record(folder, [](Messenger& messenger) {
    const std::uint64_t own = 0;
    ucp_request_param_t param{};
    param.op_attr_mask = UCP_OP_ATTR_FIELD_MEMORY_TYPE;
    for (const ucs_memory_type_t type : {UCS_MEMORY_TYPE_CUDA_MANAGED, UCS_MEMORY_TYPE_LAST}) {
      param.memory_type = type;
      Messenger::wait(ucp_tag_send_nbx(messenger.endpoint, &own, 8, 0, &param));
    }
  });
  const LogFile log = folder.log();
  const std::vector<UcpOperationView> sends = sends_of(log);
  REQUIRE(sends.size() == 2);
  CHECK(sends[0].memory.own == kHostMemory);
  CHECK(sends[0].memory.believed == Belief::cuda_managed);
  CHECK(sends[0].memory.believed_from == BeliefFrom::caller);
  CHECK(sends[1].memory.believed == Belief::host);  // the program did not state it, and UCX
                                                    // detected it
  CHECK(sends[1].memory.believed_from == BeliefFrom::cache);
}

TEST_CASE("memory: a transport's operation names it where the transport itself takes the data") {
  const Folder folder;
  folder.run([] {
    Transport transport;
    const std::uint64_t id = gpu::test::allocate(0);
    uct_iov_t iov{part(0) + 10, 8, nullptr, 0, 1};
    uct_ep_put_zcopy(transport.endpoint, &iov, 1, id, 0, nullptr);
    uct_ep_put_short(transport.endpoint, part(0), 8, id, 0);
    return true;
  });
  const LogFile log = folder.log();
  const Memory memory(log);
  std::vector<UctOperationView> puts;
  log.for_each_record(Stream::events,
                      [&](std::uint16_t, const UctOperationView& view) { puts.push_back(view); });
  REQUIRE(puts.size() == 2);
  CHECK(memory.is_right(puts[0].memory.local, *puts[0].local, *puts[0].remote));
  CHECK(puts[0].memory.remote == kMemoryNotAsked);  // the peer's address
  CHECK((puts[1].r.marks & UctOperation::kMemory) == 0);
}

bool map_memory(void* begin, std::size_t bytes, ucp_mem_h* handle = nullptr) {
  ucp_mem_h memory = nullptr;
  ucp_mem_map_params_t params{};
  params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH;
  params.address = begin;
  params.length = bytes;
  return ucp_mem_map(nullptr, &params, handle != nullptr ? handle : &memory) == UCS_OK;
}

TEST_CASE("memory: what is mapped is in the log before anybody reaches it") {
  const Folder folder;
  folder.run([] {
    gpu::test::allocate(2);
    std::uint64_t own = 0;
    return map_memory(part(2) + 8, 8) && map_memory(&own, 8);
  });
  const LogFile log = folder.log();
  const Memory memory(log);
  REQUIRE(memory.met.size() == 1);
  CHECK(memory.met.begin()->second.bytes == kPartBytes);
  // Of the host's memory twice: for the record of the call, and for what it holds.
  CHECK(memory.counted.memory_queries == 3);
}

TEST_CASE("memory: what is mapped is there until it is unmapped, whoever used it") {
  const Folder folder;
  record(folder, [](Messenger& messenger) {
    const std::uint64_t own = 0;
    ucp_mem_h mapped = nullptr;
    gpu::test::allocate(2);
    CHECK(map_memory(part(2), kPartBytes, &mapped));
    send(messenger, &own, 0);
    ucp_mem_unmap(nullptr, mapped);
    gpu::test::release(2);
    send(messenger, part(2), gpu::test::allocate(2));
  });
  const LogFile log = folder.log();
  const Memory memory(log);
  REQUIRE(memory.over.size() == 1);
  CHECK(memory.over.begin()->second.alive_tick > sends_of(log).at(0).r.start_tick);
}

TEST_CASE("memory: of what is mapped all pieces are in the log, and nothing beside it") {
  const Folder folder;
  std::uint64_t first = 0;
  folder.run([] {
    for (const unsigned number : {2u, 3u, 4u, 5u, 7u}) gpu::test::allocate(number);
    return map_memory(part(3) + 8, 2 * kPartBytes) && map_memory(part(7), 3 * kPartBytes);
  });
  const LogFile log = folder.log();
  const Memory memory(log);
  std::vector<unsigned> parts;
  for (const auto& [id, met] : memory.met) {
    if (parts.empty()) first = met.begin;
    parts.push_back(3 + static_cast<unsigned>((met.begin - first) / kPartBytes));
  }
  CHECK(parts == std::vector<unsigned>{3, 4, 5, 7});
  CHECK(memory.counted.memory_queries == 6);  // the last one for what is the host's
}

TEST_CASE("memory: a fork child tells in its own log what it meets") {
#if !defined(__SANITIZE_THREAD__)  // whose children start no threads
  const Folder folder;
  folder.run([] {
    Messenger messenger;
    const std::uint64_t id = gpu::test::allocate(0);
    send(messenger, part(0), id);
    const pid_t child = fork();
    if (child == 0) {
      Messenger own;
      send(own, part(0), id);
      exit(0);
    }
    int status = -1;
    return waitpid(child, &status, 0) == child && status == 0;
  });
  const auto paths = folder.log_paths();
  REQUIRE(paths.size() == 2);
  for (const auto& path : paths) {
    const LogFile log = LogFile::open(path);
    const Memory memory(log);
    CHECK(memory.drivers.size() == 1);
    CHECK(memory.devices.size() == 1);
    const std::vector<UcpOperationView> sends = sends_of(log);
    REQUIRE(sends.size() == 1);
    CHECK(memory.is_right(sends[0].memory.own, sends[0].r.buffer, sends[0].r.tag));
  }
#endif
}

}  // namespace
}  // namespace uctrace::log::test
