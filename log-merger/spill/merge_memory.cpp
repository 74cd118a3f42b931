#include "log-merger/spill/merge_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

#include "log-merger/model/quantities.hpp"
#include "log-merger/spill/resident.hpp"
#include "log-merger/spill/spill.hpp"

namespace uctrace::spill {
namespace {

// Measured (docs/performance.md, "Merging"), with a margin for other mixes of events.
constexpr std::uint64_t kBytesOfEvent = 450;
constexpr std::uint64_t kWithoutEvents = 24 << 20;

Error cannot_spill(const MemoryChoice& choice, const std::string& why) {
  return Error({fmt::format("cannot merge in {} of memory", format_bytes(choice.most_bytes)), why,
                "allow more with --memory SIZE, or name a folder for the merged run with "
                "--store DIR"});
}

bool begin_where_possible(std::uint64_t most_bytes, std::uint64_t needed_bytes,
                          const MemoryChoice& choice) {
  std::filesystem::path folder;
  try {
    folder = choice.folder();
    return begin(folder, most_bytes, needed_bytes);
  } catch (const std::system_error& error) {
    if (choice.most_bytes == 0) return true;
    throw cannot_spill(choice, fmt::format("no file can be made in '{}' for what does not fit: {}",
                                           folder.string(), error.code().message()));
  }
}

}  // namespace

std::uint64_t needed_for_logs(std::uint64_t log_bytes) { return kWithoutEvents + 2 * log_bytes; }

std::uint64_t needed_for_events(std::uint64_t events) {
  return kWithoutEvents + events * kBytesOfEvent;
}

void begin_if_needed(std::uint64_t needed, const MemoryChoice& choice) {
  const std::uint64_t most = choice.most_bytes != 0 ? choice.most_bytes : available_bytes() / 4 * 3;
  if (needed <= most || !choice.folder) return;
  if (!begin_where_possible(most, needed, choice) && choice.most_bytes != 0) {
    throw cannot_spill(choice, "the system gives this process no addresses for a file (ulimit -v)");
  }
}

Error no_room() {
  const Bound given = bound();
  std::error_code unknown;
  const auto room = std::filesystem::space(given.folder, unknown);
  return Error(
      {fmt::format("cannot merge in {} of memory", format_bytes(given.most_bytes)),
       fmt::format("what does not fit goes to a file in {}, which has no room left: about {} are "
                   "needed there, {} are free",
                   given.folder.string(), format_bytes(given.needed_bytes),
                   unknown ? "an unknown number of bytes" : format_bytes(room.available)),
       "make room, allow more memory with --memory SIZE, or name another folder for the merged "
       "run with --store DIR"});
}

}  // namespace uctrace::spill
