// The accounting identities: each compares a count made in the job with one made from its records.
#include <fmt/format.h>

#include "log-merger/totals.hpp"

namespace uctrace::merge {

namespace {

class Checker {
 public:
  explicit Checker(Job& job)
      : job_(job), complete_(job_complete(job)), found_(count_found(job)),
        counted_(count_counted(job)) {}

  void run() {
    const std::uint64_t reasons = sum_of_reasons();
    add("events", "records published = event records read", counted_.recorded_events, found_.events);
    add("uct", "posted_ok = attributed_ucp + reasons + unattributed", counted_.uct_posted_ok,
        found_.attributed + reasons + found_.unattributed, log::Layer::uct);
    add("completions", "inprogress = completed + outstanding + without_handle",
        counted_.uct_inprogress,
        counted_.uct_completed + found_.outstanding + counted_.uct_without_handle, log::Layer::uct);
    add("arrivals", "arrivals counted = arrival records", counted_.uct_arrivals, found_.arrivals,
        log::Layer::uct);
    add("ucp", "operations counted = operation records", counted_.ucp_operations,
        found_.ucp_operations, log::Layer::ucp);
    const SendTotals& s = found_.sends;
    add("tag_sends", "sends = matched + ambiguous + unmatched + failed", counted_.ucp_sends,
        s.matched + s.ambiguous + s.unmatched + s.failed, log::Layer::ucp);
    const ReceiveTotals& r = found_.receives;
    add("tag_receives",
        "receives = matched + ambiguous + unmatched + cancelled or failed + outstanding",
        counted_.ucp_receives, r.matched + r.ambiguous + r.unmatched + r.failed + r.outstanding,
        log::Layer::ucp);
    add("tag", "sends that found a receive = receives that found a send", s.matched + s.ambiguous,
        r.matched + r.ambiguous, log::Layer::ucp);
    add_payload();
    add("mpi", "calls counted = call records", counted_.mpi_calls, found_.mpi_calls,
        log::Layer::mpi);
  }

 private:
  std::uint64_t sum_of_reasons() const {
    std::uint64_t sum = 0;
    for (const auto& [name, count] : found_.reasons) {
      sum += count;
    }
    return sum;
  }

  bool layer_off(log::Layer layer) const {
    for (const ProcessLog& log : job_.logs) {
      if (log.file.page().layers[static_cast<std::size_t>(layer)] == log::LayerState::off) {
        return true;
      }
    }
    return false;
  }

  Verdict verdict(bool equal, bool cut) const {
    if (!complete_ || cut) {
      return Verdict::incomplete;
    }
    return equal ? Verdict::holds : Verdict::violated;
  }

  void add(const char* name, const char* statement, std::uint64_t left, std::uint64_t right,
           log::Layer layer = log::Layer::gpu) {
    const bool cut = layer != log::Layer::gpu && layer_off(layer);
    job_.run.identities.push_back(
        {name, "job", statement, left, right, verdict(left == right, cut)});
  }

  // Holds only if it holds for every single message: two errors must not make up for each other.
  void add_payload() {
    const bool equal = found_.delivered_bytes == found_.covered_bytes &&
                       found_.messages_not_covered == 0;
    const bool cut = layer_off(log::Layer::uct) || layer_off(log::Layer::ucp);
    job_.run.identities.push_back(
        {"payload", "every delivered message",
         "bytes of the message = bytes its transfers cover, each byte once", found_.delivered_bytes,
         found_.covered_bytes, verdict(equal, cut)});
    if (found_.messages_not_covered > 0) {
      job_.run.notes.push_back(fmt::format(
          "{} delivered message(s) are not covered exactly by their transfers: their paths are not "
          "complete",
          found_.messages_not_covered));
    }
  }

  Job& job_;
  bool complete_;
  Found found_;
  log::LaneCounters counted_;
};

}  // namespace

void check_identities(Job& job) { Checker(job).run(); }

}  // namespace uctrace::merge
