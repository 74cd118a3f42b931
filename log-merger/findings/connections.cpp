// What it costs to connect to a peer.
#include <fmt/format.h>

#include "log-merger/findings/rules.hpp"
#include "log-merger/model/quantities.hpp"

namespace uctrace::findings {
namespace {

constexpr double kLeastConnectingShare = 0.05;  // of the time of all ranks
constexpr double kLeastConnectingNs = 1e6;

}  // namespace

void connections_are_long(const Facts& facts, Found& found) {
  const Connecting& waited = facts.connecting;
  const double share = facts.share_of_time(waited.ns);
  if (waited.ns < kLeastConnectingNs || share < kLeastConnectingShare) return;
  found.push_back(
      {.rule = "connections-are-long",
       .what = fmt::format(
           "{} messages waited until UCX had connected to their receiver: one or more of them "
           "during "
           "{}, {:.0f} % of the time of all ranks; the longest waited {}, for {}",
           waited.messages, time_text(waited.ns), 100 * share,
           time_text(static_cast<double>(waited.longest_ns)),
           waited.transport == kNoText ? "a transport" : facts.run.texts[waited.transport]),
       .advice =
           "connect before it counts: exchange a short message with each peer first (Open MPI "
           "does so with --mca mpi_preconnect_mpi 1), or talk to fewer peers",
       .command = "report --by connections",
       .evidence = {{"messages", waited.messages},
                    {"waited_ns", waited.ns},
                    {"longest_ns", waited.longest_ns}},
       .share = share});
}

}  // namespace uctrace::findings
