// Writes scripts: adds steps that libFuzzer would hardly find by itself to those it found.
#include <algorithm>
#include <bit>
#include <cstring>
#include <random>
#include <vector>

#include "event-log/format/definitions.hpp"
#include "event-log/format/device_definitions.hpp"
#include "event-log/format/events.hpp"
#include "tests/fuzz/log_script_steps.hpp"

// Of libFuzzer: its own mutations of raw bytes.
extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace uctrace::fuzz {
namespace {

using log::RecordType;

using Random = std::minstd_rand;
using Bytes = std::vector<std::uint8_t>;

// Few values, so that handles, ids, tags and times of different records coincide.
std::uint64_t some_value(Random& random) {
  static constexpr std::uint64_t kOdd[] = {0,         ~std::uint64_t{0}, std::uint64_t{1} << 63,
                                           INT64_MAX, UINT32_MAX,        std::uint64_t{1} << 40};
  switch (random() % 8) {
    case 0:
      return kOdd[random() % std::size(kOdd)];
    case 1:
      return 1000 + random() % 64;
    case 2:
      return 8u << random() % 16;
    default:
      return random() % 4;
  }
}

// A record of `type` that its reader mostly accepts, with values that coincide with those of
// others.
template <typename Record>
std::vector<std::uint64_t> some_record(Random& random, RecordType type, std::size_t tail_words = 0,
                                       void (*shape)(Random&, Record&) = nullptr) {
  std::vector<std::uint64_t> words(sizeof(Record) / 8 + tail_words);
  for (std::uint64_t& word : words) word = some_value(random);
  Record record;
  std::memcpy(&record, words.data(), sizeof record);
  record.head.a = static_cast<std::uint16_t>(random() % 4);
  record.head.b = static_cast<std::uint32_t>(random() % 3);
  if (shape != nullptr) shape(random, record);
  record.head.type = type;
  record.head.words = static_cast<std::uint8_t>(words.size());
  std::memcpy(words.data(), &record, sizeof record);
  return words;
}

void shape_connection(Random& random, log::UcpConnection& r) {
  r.head.a = static_cast<std::uint16_t>(random() % 2);
  for (log::SocketAddress* address : {&r.local, &r.remote}) {
    *address = {};
    address->version = random() % 8 == 0 ? 6 : 4;
    address->port = static_cast<std::uint16_t>(random() % 3);
  }
}

void shape_operation(Random& random, log::UctOperation& r) {
  r.op = static_cast<log::UctOp>(1 + random() % (static_cast<unsigned>(log::UctOp::kCount) - 1));
  r.am_id = static_cast<std::uint8_t>(random() % 28);
  r.flags = static_cast<std::uint8_t>(random() % 16 | (random() % 6) << 4 | (random() & 0x80));
  r.source = log::UctOperation::source_of(static_cast<log::Origin>(random() % 3),
                                          static_cast<log::Route>(random() % 7));
  r.marks = static_cast<std::uint8_t>(random() % 4);  // kOneTick, kMemory
  r.bytes = random() % 128;
}

void shape_arrival(Random& random, log::UctArrival& r) {
  r.am_id = static_cast<std::uint8_t>(random() % 28);
  r.header_words = static_cast<std::uint8_t>(random() % 6);
  r.kind =
      static_cast<log::ArrivalKind>(random() % static_cast<unsigned>(log::ArrivalKind::kCount));
}

void shape_pending(Random& random, log::UctPending& r) {
  r.head.b = static_cast<std::uint32_t>(1 + random() % 4);
  r.request = random() % 4;
}

void shape_memory_call(Random& random, log::MemoryCall& r) {
  const auto functions = static_cast<unsigned>(log::MemoryFunction::kCount) - 1;
  const unsigned source = log::UctOperation::source_of(static_cast<log::Origin>(random() % 3),
                                                       static_cast<log::Route>(random() % 7));
  r.head.a = static_cast<std::uint16_t>(source << 8 | (1 + random() % functions));
  r.domain = random() % 3;
  r.key = random() % 4;
  r.address = random() % 64;
  r.bytes = random() % 64;
  r.origin = random() % 16;
  r.memory = static_cast<log::MemoryId>(random() % 3);
}

void shape_ucp(Random& random, log::UcpOperation& r) {
  const auto flags = static_cast<unsigned>(random() % 4 == 0 ? log::UcpOperation::kMemory : 0);
  r.head.a = static_cast<std::uint16_t>(flags << 8 | (1 + random() % 10));
  r.start_tick = 1000 + random() % 64;
}

void shape_text(Random& random, log::Text& r) {
  r.head.a = static_cast<std::uint16_t>(1 + random() % 9);
  r.head.b = static_cast<std::uint32_t>(random() % 33);
}

void shape_addresses(Random& random, std::uint16_t& first, std::uint16_t& second) {
  first = static_cast<std::uint16_t>(random() % 9);
  second = static_cast<std::uint16_t>(random() % 9);
}

void set_head(std::vector<std::uint64_t>& words, std::uint16_t a, std::uint32_t b) {
  words[0] = (words[0] & 0xffff) | std::uint64_t{a} << 16 | std::uint64_t{b} << 32;
}

// Mostly with as many words as its parts need.
std::vector<std::uint64_t> some_call(Random& random) {
  static constexpr RecordType kTypes[] = {RecordType::mpi_call, RecordType::mpi_call,
                                          RecordType::mpi_window_call, RecordType::mpi_file_call};
  const auto parts = static_cast<unsigned>(random() % 64);
  auto words = some_record<log::MpiCall>(random, kTypes[random() % std::size(kTypes)],
                                         log::MpiCall::words_of(parts) - 4 + random() % 16 / 15);
  set_head(words, static_cast<std::uint16_t>(random() % 4 | parts << log::MpiCall::kFunctionBits),
           static_cast<std::uint32_t>(random() % 3));
  return words;
}

std::vector<std::uint64_t> some_requests(Random& random) {
  const auto flags = static_cast<std::uint16_t>(random() % 4);
  const auto count = static_cast<std::uint32_t>(random() % 5);
  auto words = some_record<log::MpiRequests>(random, RecordType::mpi_requests,
                                             log::MpiRequests::words_of(flags, count) - 2);
  set_head(words, flags, count);
  return words;
}

// One of few numbers, so operations name defined memory; rarely an impossible one.
log::MemoryId some_memory(Random& random) {
  const auto number = static_cast<log::MemoryId>(random() % 17);
  return number < 4    ? number
         : number < 16 ? log::kFirstDeviceMemory + number % 4
                       : log::kFirstDeviceMemory - 1;
}

// The words of memory come after those of addresses and headers, before the stack's.
std::vector<std::uint64_t> some_uct_operation(Random& random) {
  auto words =
      some_record<log::UctOperation>(random, RecordType::uct_operation, 9, shape_operation);
  log::UctOperation r;
  std::memcpy(&r, words.data(), sizeof r);
  const std::size_t at = sizeof r / sizeof(std::uint64_t) +
                         log::UctOperation::header_words(r.flags) +
                         static_cast<std::size_t>(std::popcount(r.flags & 0xfu));
  const log::TransferMemory memory{some_memory(random), some_memory(random)};
  if (at < words.size()) words[at] = std::bit_cast<std::uint64_t>(memory);
  return words;
}

std::vector<std::uint64_t> some_ucp_operation(Random& random) {
  auto words =
      some_record<log::UcpOperation>(random, RecordType::ucp_operation, random() % 3, shape_ucp);
  const log::OperationMemory memory{
      some_memory(random),
      static_cast<log::Belief>(random() % (static_cast<unsigned>(log::Belief::kCount) + 1)),
      static_cast<std::uint8_t>(random() % 4),
      static_cast<log::BeliefFrom>(random() % (static_cast<unsigned>(log::BeliefFrom::kCount) + 1)),
      0};
  const std::size_t at = sizeof(log::UcpOperation) / sizeof(std::uint64_t);
  if (words.size() > at) words[at] = std::bit_cast<std::uint64_t>(memory);
  return words;
}

std::vector<std::uint64_t> some_event(Random& random) {
  switch (random() % 10) {
    case 0:
      return some_uct_operation(random);
    case 1:
      return some_record<log::UctCompletion>(random, RecordType::uct_completion);
    case 2:
      return some_record<log::UctArrival>(random, RecordType::uct_arrival, 5, shape_arrival);
    case 3:
      return some_ucp_operation(random);
    case 4:
      return some_record<log::UcpCompletion>(random, RecordType::ucp_completion);
    case 5:
      return some_record<log::UctPending>(random, RecordType::uct_pending, 0, shape_pending);
    case 6:
      return some_requests(random);
    case 7:
      return some_record<log::MemoryCall>(random, RecordType::memory_call, 0, shape_memory_call);
    default:
      return some_call(random);
  }
}

std::vector<std::uint64_t> some_text(Random& random) {
  static constexpr const char* kTexts[] = {"Open MPI v4.1.4, x", "MPICH Version: 4",
                                           "MPI_Isend",          "MPI_Send_init",
                                           "MPI_Ibcast",         "1.13.1",
                                           "UCX_PROTO_ENABLE=y", "\x1b[31m=1+1</script>\xff\n"};
  auto words = some_record<log::Text>(random, RecordType::text, 4, shape_text);
  char* text = reinterpret_cast<char*>(&words[sizeof(log::Text) / 8]);
  std::memset(text, 'x', 32);
  if (random() % 4 != 0) std::strncpy(text, kTexts[random() % std::size(kTexts)], 32);
  return words;
}

std::vector<std::uint64_t> some_device(Random& random) {
  switch (random() % 5) {
    case 0:
      return some_record<log::GpuDriver>(random, RecordType::gpu_driver, 0,
                                         [](Random& any, log::GpuDriver& r) {
                                           r.head.a = static_cast<std::uint16_t>(any() % 5);
                                           r.tick = 900 + any() % 200;
                                           r.not_before_tick = any() % 1000;
                                         });
    case 1:
      return some_record<log::GpuDevice>(random, RecordType::gpu_device, 0,
                                         [](Random& any, log::GpuDevice& r) {
                                           r.head.a = static_cast<std::uint16_t>(any() % 4);
                                           r.uuid[0] = static_cast<unsigned char>(any() % 3);
                                         });
    case 2:
      return some_record<log::DeviceMemory>(
          random, RecordType::device_memory, 0, [](Random& any, log::DeviceMemory& r) {
            r.head.a = static_cast<std::uint16_t>(any() % 4);
            r.head.b = some_memory(any);
            r.kind = static_cast<log::DeviceMemoryKind>(any() % 9);
            r.bytes = any() % 4096;
          });
    case 3:
      return some_record<log::DeviceMemoryEnd>(random, RecordType::device_memory_end, 0,
                                               [](Random& any, log::DeviceMemoryEnd& r) {
                                                 r.head.a = static_cast<std::uint16_t>(any() % 4);
                                                 r.head.b = some_memory(any);
                                                 r.tick = 1000 + any() % 100;
                                                 r.alive_tick = 1000 + any() % 50;
                                               });
    default:
      return some_record<log::UcxDevice>(
          random, RecordType::ucx_device, 0,
          [](Random& any, log::UcxDevice& r) { r.head.a = static_cast<std::uint16_t>(any() % 4); });
  }
}

std::vector<std::uint64_t> some_definition(Random& random) {
  switch (random() % 17) {
    case 0:
      return some_text(random);
    case 1:
      return some_record<log::UctInterface>(
          random, RecordType::uct_interface, 2, [](Random& any, log::UctInterface& r) {
            shape_addresses(any, r.device_address_bytes, r.interface_address_bytes);
          });
    case 2:
      return some_record<log::UctEndpoint>(random, static_cast<RecordType>(35 + random() % 3), 2,
                                           [](Random& any, log::UctEndpoint& r) {
                                             shape_addresses(any, r.device_address_bytes,
                                                             r.address_bytes);
                                           });
    case 3:
      return some_record<log::UcpWorker>(random, RecordType::ucp_worker);
    case 4:
      return some_record<log::UcpEndpoint>(random, RecordType::ucp_endpoint);
    case 5:
      return some_record<log::Communicator>(random, RecordType::communicator, 4);
    case 6: {
      static constexpr RecordType kEnds[] = {
          RecordType::communicator_free, RecordType::communicator_free, RecordType::datatype_free,
          RecordType::window_free, RecordType::file_close};
      return some_record<log::HandleEnd>(random, kEnds[random() % std::size(kEnds)]);
    }
    case 7:
      return some_record<log::UcpConnection>(random, RecordType::ucp_connection, 0,
                                             shape_connection);
    case 8:
      return some_record<log::Stack>(random, RecordType::stack, random() % 4);
    case 9:
      return some_record<log::Module>(random, RecordType::module, 2,
                                      [](Random& any, log::Module& r) {
                                        shape_addresses(any, r.head.a, r.head.a);
                                        r.head.b = static_cast<std::uint32_t>(any() % 9);
                                      });
    case 10:
      return some_record<log::RecordingSwitch>(
          random, RecordType::recording_switch, 0, [](Random& any, log::RecordingSwitch& r) {
            r.head.a = static_cast<std::uint16_t>(any() % 2 | any() % 4 << 8);
            r.head.b = static_cast<std::uint32_t>(any() % 6);
          });
    case 11:
      return some_record<log::Datatype>(
          random, RecordType::datatype, 1, [](Random& any, log::Datatype& r) {
            r.head.a = static_cast<std::uint16_t>(any() % 21 | any() % 2 << 8);
            r.head.b = static_cast<std::uint32_t>(any() % 9);
          });
    case 12:
      return some_record<log::Window>(random,
                                      random() % 2 == 0 ? RecordType::window : RecordType::file);
    case 13:
      return some_record<log::ClockSample>(
          random, RecordType::clock_sample, 0, [](Random& any, log::ClockSample& r) {
            r.head.a = static_cast<std::uint16_t>(any() % log::ClockSample::kEnds);
            r.peer_clock = log::clock_name("boot", any() % 3);  // of a script's logs, or none
          });
    case 14:
      return some_record<log::ToolTraffic>(random, RecordType::tool_traffic, 0,
                                           [](Random& any, log::ToolTraffic& r) {
                                             r.tick = any() % 1100;
                                             r.end_tick = r.tick + any() % 100;
                                             r.sends = any() % 3;
                                           });
    case 15:
      return some_device(random);
    default:
      return some_record<log::Fault>(random, RecordType::fault, 1);
  }
}

void append_record(Bytes& script, const std::vector<std::uint64_t>& words) {
  script.push_back(static_cast<std::uint8_t>(Step::record));
  script.push_back(static_cast<std::uint8_t>(words.size()));
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(words.data());
  script.insert(script.end(), bytes, bytes + words.size() * 8);
}

// A step, or a chunk of records, that keeps a log intact.
Bytes some_steps(Random& random) {
  Bytes steps;
  if (random() % 8 == 0) steps.push_back(static_cast<std::uint8_t>(Step::next_log));
  const bool definitions = random() % 2 == 0;
  if (random() % 2 == 0) {
    steps.push_back(static_cast<std::uint8_t>(Step::chunk));
    steps.push_back(static_cast<std::uint8_t>(definitions));
  }
  for (auto count = random() % 8; count > 0; --count) {
    append_record(steps, definitions ? some_definition(random) : some_event(random));
  }
  if (random() % 3 == 0) steps.push_back(static_cast<std::uint8_t>(Step::pack));
  return steps;
}

// Where the steps of a script begin, and its end.
std::vector<std::size_t> boundaries(Script script) {
  std::vector<std::size_t> places{0};
  for (Taker taker(script); !taker.at_end();) {
    const auto step = static_cast<Step>(taker.number(1) % static_cast<std::size_t>(Step::kCount));
    std::size_t skip = step == Step::chunk ? 1 : step == Step::cut ? 3 : 0;
    if (step == Step::record) skip = taker.number(1) * 8;
    if (step == Step::page_patch || step == Step::chunk_patch) {
      taker.number(2);
      skip = taker.number(1);
    }
    for (; skip > 0 && !taker.at_end(); --skip) taker.number(1);
    places.push_back(script.size() - taker.left());
  }
  return places;
}

// New steps between two old ones, some old ones again elsewhere, or some left out.
Bytes rearranged(Script script, Random& random) {
  const std::vector<std::size_t> places = boundaries(script);
  const auto at = [&](std::size_t place) {
    return script.begin() + static_cast<std::ptrdiff_t>(place);
  };
  const std::size_t to = places[random() % places.size()];
  std::size_t begin = places[random() % places.size()], end = places[random() % places.size()];
  if (begin > end) std::swap(begin, end);
  Bytes result(script.begin(), at(to));
  switch (random() % 4) {
    case 0:
      result.insert(result.end(), at(begin), at(end));
      break;
    case 1:
      result.assign(script.begin(), at(begin));
      result.insert(result.end(), at(end), script.end());
      return result;
    default: {
      const Bytes steps = some_steps(random);
      result.insert(result.end(), steps.begin(), steps.end());
    }
  }
  result.insert(result.end(), at(to), script.end());
  return result;
}

}  // namespace
}  // namespace uctrace::fuzz

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t max_size, unsigned seed) {
  using namespace uctrace::fuzz;
  Random random(seed);
  if (random() % 3 == 0 && size > 0) return LLVMFuzzerMutate(data, size, max_size);
  const Bytes result = rearranged({data, size}, random);
  const std::size_t kept = std::min(result.size(), max_size);
  std::copy_n(result.begin(), kept, data);
  return kept;
}
