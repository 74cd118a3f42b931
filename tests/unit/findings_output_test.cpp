// The printed form of findings of any rule.
#include "log-merger/reports/findings_output.hpp"

#include <doctest/doctest.h>

#include <sstream>

#include "log-merger/findings/finding.hpp"

namespace uctrace {
namespace {

using findings::Finding;

TEST_CASE("commands of findings name the folder behind the verb") {
  Finding finding;
  finding.command = "report --by pairs";
  CHECK(command_of(finding, "") == "uctrace report --by pairs");
  CHECK(command_of(finding, "run1") == "uctrace report run1 --by pairs");
  finding.command = "info";
  CHECK(command_of(finding, "'a b'") == "uctrace info 'a b'");
  finding.advice = "`uctrace simulate DIR --balance run` tells";
  CHECK(advice_of(finding, "'a b'") == "`uctrace simulate 'a b' --balance run` tells");
  CHECK(advice_of(finding, "") == "`uctrace simulate --balance run` tells");
  finding.advice = "look at it";
  CHECK(advice_of(finding, "run1") == "look at it");
}

TEST_CASE("findings are printed with what to try, and cut") {
  const Finding finding{.rule = "settings-differ",
                        .what = "rank 3 has UCX_TLS=tcp, all others none",
                        .advice =
                            "unless you mean it, set it for all: `-x NAME` of Open MPI, -genv of "
                            "MPICH, --export of srun",
                        .command = "info --list settings"};
  std::ostringstream out;
  write_findings(out, {finding, finding}, {.folder = "d", .limit = 1});
  CHECK(out.str() ==
        "Findings\n"
        " 1. rank 3 has UCX_TLS=tcp, all others none\n"
        "    try: unless you mean it, set it for all: `-x NAME` of Open MPI, -genv of MPICH, "
        "--export of srun\n"
        "    see: uctrace info d --list settings  (settings-differ)\n"
        "(1 more: uctrace report d --findings)\n");
}

}  // namespace
}  // namespace uctrace
