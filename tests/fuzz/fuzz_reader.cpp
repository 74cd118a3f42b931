// libFuzzer entry over everything that reads one log.
#include <cstddef>
#include <cstdint>

#include "event-log/reader/error.hpp"
#include "event-log/reader/reader.hpp"
#include "tests/fuzz/log_script.hpp"
#include "tests/unit/touch_everything.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace uctrace;
  try {
    log::test::touch_everything(
        log::LogFile::from_bytes(fuzz::logs_of({data, size}, fuzz::kOneSmallLog).front(), "fuzz"));
  } catch (const Error&) {
  }
  return 0;
}
