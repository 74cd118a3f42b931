// Lists of receives in progress.
#include "log-merger/mpi/open_calls.hpp"

#include <doctest/doctest.h>

#include "tests/unit/job_builder.hpp"

namespace uctrace::merge {
namespace {

using test::JobBuilder;

TEST_CASE("receives that are not over are listed, the oldest first and not all of them") {
  JobBuilder builder(2);
  for (std::uint64_t tick = 30; tick > 10; --tick) builder.open_receive(1, 7, ~0ull, tick);
  builder.receive(1, 7, 8, 5);
  builder.cancelled_receive(1, 7, ~0ull, 6);
  const auto open = find_open(builder.job);
  const nlohmann::ordered_json json = open_receives_json(builder.job, open[1]);
  CHECK(json["count"] == 20);
  REQUIRE(json["oldest"].size() == 8);
  CHECK(json["oldest"][0]["since_ns"] == 11);
  CHECK(json["oldest"][0]["mpi"].is_null());
  CHECK(open_receives_json(builder.job, open[0])["count"] == 0);
}

}  // namespace
}  // namespace uctrace::merge
