// Which transports carried the payload of pairs within hosts and between hosts.
#include "log-merger/reports/expectations.hpp"

#include <doctest/doctest.h>

#include "event-log/reader/error.hpp"
#include "log-merger/model/transport_names.hpp"
#include "log-merger/summaries/sums.hpp"
#include "tests/unit/sample_runs.hpp"

namespace uctrace {
namespace {

// Ranks 0 and 2 are on one host, 1 on another. What is sent is 1000 B.
void send(Run& run, std::int32_t src, std::int32_t dst, const char* transport,
          std::uint64_t carried = 1000) {
  Message message;
  message.src = message.src_process = src;
  message.dst = message.dst_process = dst;
  message.bytes = 1000;
  message.first_hop = static_cast<std::uint32_t>(run.hops.size());
  message.hops = 2;
  Hop control;
  control.role = Role::control;
  control.transport = run.texts.intern("ud_mlx5");
  control.count = 1;
  control.wire_bytes = 40;
  Hop data = control;
  data.role = Role::data;
  data.transport = run.texts.intern(transport);
  data.payload_bytes = data.wire_bytes = carried;
  run.hops.push_back(control);
  run.hops.push_back(data);
  run.messages.push_back(message);
}

Run run_of_three() {
  Run run;
  run.info_json = R"({"events":{"dropped_by_kind":{"uct":0,"ucp":0,"mpi":0}}})";
  add_processes(run, 3);
  return run;
}

Judgement judged(Run run, const std::string& expected) {
  const Judgement of_rows = judge(run, parse_expectations(expected));
  lay_out_sums(run);
  const Judgement of_sums = judge(run, parse_expectations(expected));
  CHECK(judgement_json(run, of_rows) == judgement_json(run, of_sums));
  return of_sums;
}

TEST_CASE("names mean a transport, its variants, or a group") {
  CHECK(is_meant_by("rc_mlx5", "rc"));
  CHECK(is_meant_by("rc_mlx5", "rc_mlx5"));
  CHECK(is_meant_by("rc_mlx5", "ib"));
  CHECK(is_meant_by("posix", "sm"));
  CHECK(is_meant_by("cuda_ipc", "cuda"));
  CHECK(is_meant_by("tcp", "all"));
  CHECK_FALSE(is_meant_by("rc_mlx5", "r"));
  CHECK_FALSE(is_meant_by("rc_mlx5", "rc_verbs"));
  CHECK_FALSE(is_meant_by("tcp", "sm"));
  CHECK_FALSE(is_meant_by("rc", "rc_mlx5"));
}

TEST_CASE("expectations that cannot be read are refused with the reason") {
  for (const char* text : {"", "rc", "inter", "between=rc", "inter=", "inter=rc||ud", "inter=rc,",
                           "inter=rc,inter=ud"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_expectations(text), const Error&);
  }
  const auto two = parse_expectations("inter=rc,intra=sysv|posix");
  REQUIRE(two.size() == 2);
  CHECK_FALSE(two[0].within_hosts);
  CHECK(two[1].transports == std::vector<std::string>{"sysv", "posix"});
}

TEST_CASE("all payload by what is listed: met; nothing: no failure") {
  Run run = run_of_three();
  send(run, 0, 2, "posix");
  send(run, 0, 1, "rc_mlx5");
  const Judgement met = judged(run, "inter=rc,intra=sysv|posix|cma|self");
  CHECK(met.outcome() == Outcome::met);
  CHECK(met.expectations[0].bytes == 1000);
  CHECK(met.unexpected.empty());
  Run within = run_of_three();
  send(within, 0, 2, "posix");
  const Judgement nothing = judged(within, "inter=rc,intra=sm");
  CHECK(nothing.expectations[0].outcome == Outcome::nothing);
  CHECK(nothing.outcome() == Outcome::met);
}

TEST_CASE("what went another way is listed with its pair") {
  Run run = run_of_three();
  send(run, 0, 1, "tcp");
  send(run, 0, 1, "rc_mlx5");
  send(run, 1, 2, "tcp");
  send(run, 1, 2, "tcp");
  send(run, 0, 2, "tcp");  // not asked for
  const Judgement result = judged(run, "inter=rc");
  CHECK(result.outcome() == Outcome::not_met);
  REQUIRE(result.unexpected.size() == 2);
  CHECK(result.unexpected[0].src_process == 1);
  CHECK(result.unexpected[0].bytes == 2000);
  CHECK(result.unexpected[0].transport == "tcp");
  CHECK(result.expectations[0].bytes == 4000);
  CHECK(result.expectations[0].fitting_bytes == 1000);
}

TEST_CASE("what is not known is not taken for met") {
  SUBCASE("a part of the payload has no path") {
    Run run = run_of_three();
    send(run, 0, 1, "rc_mlx5", 600);
    const Judgement result = judged(run, "inter=rc");
    CHECK(result.outcome() == Outcome::unproven);
    CHECK(result.unexpected.at(0).bytes == 400);
    CHECK(result.unexpected.at(0).transport.empty());
  }
  SUBCASE("an end has no log") {
    Run run = run_of_three();
    send(run, 0, -1, "rc_mlx5");
    CHECK(judged(run, "inter=rc").outcome() == Outcome::unproven);
  }
  SUBCASE("records were dropped") {
    Run run = run_of_three();
    send(run, 0, 1, "rc_mlx5");
    run.info_json = R"({"events":{"dropped_by_kind":{"uct":1,"ucp":0,"mpi":0}}})";
    CHECK(judged(run, "inter=rc").outcome() == Outcome::unproven);
    run.info_json = R"({"events":{"dropped_by_kind":{"uct":0,"ucp":0,"mpi":1}}})";
    CHECK(judged(run, "inter=rc").outcome() == Outcome::met);
  }
  SUBCASE("the job used no UCX") {
    CHECK(judged(run_of_three(), "inter=rc").outcome() == Outcome::unproven);
  }
}

}  // namespace
}  // namespace uctrace
