// libFuzzer entry over everything that reads a log. Not built by default:
//   clang++ -std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -I. event-log/fuzz_reader.cpp \
//           event-log/reader.cpp event-log/reader_records.cpp
#include <cstddef>
#include <cstdint>

#include "event-log/reader.hpp"
#include "log-merger/error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace uctrace::log;
  try {
    const LogFile file = LogFile::from_bytes(std::as_bytes(std::span(data, size)), "fuzz");
    const ClockFit clock = file.clock();
    std::int64_t sum = 0;
    const auto visit = Overloaded{
        [&](std::uint16_t, const CommunicatorView& view) { sum += view.world_rank(1).value_or(0); },
        [&](std::uint16_t, const TextView& view) {
          sum += view.text.empty() ? 0 : view.text.back();
        },
        [&](std::uint16_t, const auto& view) { sum ^= clock.job_ns(view.r.head.b); }};
    file.for_each_record(Stream::events, visit);
    file.for_each_record(Stream::definitions, visit);
    (void)file.damage().sentences();
    (void)file.process_key();
    volatile std::int64_t sink = sum;
    (void)sink;
  } catch (const uctrace::Error&) {
  }
  return 0;
}
