// Why records were dropped, and the remedy that `record` reports.
#include "log-merger/model/drop_words.hpp"

#include <doctest/doctest.h>

#include <cerrno>
#include <set>

#include "event-log/format/drop_causes.hpp"

namespace uctrace {
namespace {

bool advises_to_wait(const DropWords& words) {
  return words.to_do.find("--never-drop") != std::string::npos;
}

}  // namespace

TEST_CASE("who records faster than can be packed or written is told of --never-drop, no other") {
  const std::set<log::DropCause> waiting_helps = {
      log::DropCause::helper_late, log::DropCause::packing_slow, log::DropCause::storage_slow};
  for (std::size_t i = 0; i < log::kDropCauses; ++i) {
    const auto cause = static_cast<log::DropCause>(i);
    CAPTURE(name_of(cause));
    const DropWords words = drop_words(cause, 0, "ext4");
    CHECK(advises_to_wait(words) == waiting_helps.contains(cause));
    CHECK_FALSE(words.why.empty());
    CHECK_FALSE(words.to_do.empty());
  }
}

TEST_CASE("the file system that was too slow is named, and an error by the system's own words") {
  CHECK(drop_words(log::DropCause::storage_slow, 0, "lustre").why.find("(lustre)") !=
        std::string::npos);
  const DropWords full = drop_words(log::DropCause::no_room, ENOSPC, "ext4");
  CHECK(full.why == "No space left on device");
  CHECK(full.to_do == "record into a folder with room with -o DIR");
  // An error belongs to one cause and says nothing about another.
  const DropWords late = drop_words(log::DropCause::helper_late, ENOSPC, "ext4");
  CHECK(late.why == drop_words(log::DropCause::helper_late, 0, "ext4").why);
}

}  // namespace uctrace
