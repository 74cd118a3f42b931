#include "event-log/reader/log_head.hpp"

#include <algorithm>

#include "event-log/reader/fixed_text.hpp"
#include "event-log/reader/input_file.hpp"

namespace uctrace::log {

namespace {

constexpr const char* kMakeAgain = "record the run again, or leave this file out";

using Cause = FileError::Cause;

[[noreturn]] void refuse_log(const std::string& name, Cause cause, std::string why,
                             std::string to_do) {
  throw FileError(cause, {"cannot read the log " + name, std::move(why), std::move(to_do)});
}

}  // namespace

std::string_view LogHead::job() const { return text_in(page.job); }
std::string_view LogHead::host() const { return text_in(page.host); }

void check_page(const ProcessPage& page, std::size_t file_bytes, const std::string& name) {
  if (page.magic == 0) {
    refuse_log(name, Cause::unfinished, "its process had not begun to write it",
               "leave this file out");
  }
  if (page.magic == __builtin_bswap64(kMagic)) {
    refuse_log(name, Cause::foreign, "it comes from a machine of the other byte order",
               "merge it on a machine like the one that recorded it");
  }
  if (page.magic != kMagic) {
    refuse_log(name, Cause::foreign, "it is not a uctrace log", "name a folder of logs");
  }
  if (file_bytes < offsetof(ProcessPage, tool_version)) {
    refuse_log(name, Cause::unfinished, "it is cut short within its first page", kMakeAgain);
  }
  if (page.version != kFormatVersion) {
    refuse_log(name, page.version == 0 ? Cause::unfinished : Cause::foreign,
               "it has format " + std::to_string(page.version) + ", this uctrace reads format " +
                   std::to_string(kFormatVersion),
               page.version > kFormatVersion ? "merge it with the newer uctrace that recorded it"
                                             : "merge it with the older uctrace that recorded it");
  }
  if (file_bytes < kProcessPageBytes) {
    refuse_log(name, Cause::unfinished, "it is cut short within its first page", kMakeAgain);
  }
  const bool layers_valid = std::all_of(std::begin(page.layers), std::end(page.layers),
                                        [](LayerState s) { return s <= LayerState::unwanted; });
  if (page.page_bytes != kProcessPageBytes || page.clock < Clock::tsc ||
      page.clock > Clock::monotonic_raw || page.exit > ExitKind::aborted || !layers_valid ||
      page.lanes_used > kMaxLanes || page.anchor_count > kAnchors || page.world_rank < -1 ||
      page.world_size < 0 || page.closed > 1 || page.storage > Storage::drained ||
      page.thread_level > ThreadLevel::multiple || page.chunk_bytes % kMinChunkBytes != 0) {
    refuse_log(name, Cause::unfinished, "its first page is damaged", kMakeAgain);
  }
}

}  // namespace uctrace::log
