// libFuzzer entry over everything from the logs of a job to all output about it.
#include <cstddef>
#include <cstdint>

#include "log-merger/merge.hpp"
#include "tests/fuzz/log_script.hpp"
#include "tests/fuzz/show_run.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace uctrace;
  LogSet logs;
  logs.folder = "fuzz";
  for (const fuzz::LogBytes& bytes : fuzz::logs_of({data, size}, fuzz::kWholeJob)) {
    logs.add("log", [&] { return log::LogFile::from_bytes(bytes, "log"); });
  }
  try {
    fuzz::show(merge_logs(std::move(logs), {}));
  } catch (const Error&) {
  }
  return 0;
}
