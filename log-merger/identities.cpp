// The accounting identities: each compares a count made in the job with one made from its records.
#include <fmt/format.h>

#include <algorithm>

#include "log-merger/totals.hpp"

namespace uctrace::merge {

namespace {

class Checker {
 public:
  Checker(Job& job, const Found& found)
      : job_(job), complete_(job_complete(job)), found_(found), counted_(count_counted(job)) {}

  void run() {
    const std::uint64_t reasons = sum_of_reasons();
    add("events", "event records published = records that are part of the run",
        counted_.recorded_events, found_.used_events);
    add("uct", "posted_ok = attributed_ucp + reasons + unattributed", counted_.uct_posted_ok,
        found_.attributed + reasons + found_.unattributed, log::Layer::uct);
    add("completions", "inprogress = completed + outstanding + without_handle",
        counted_.uct_inprogress,
        counted_.uct_completed + found_.outstanding + counted_.uct_without_handle, log::Layer::uct);
    const PendingTotals& p = found_.pending;
    add("pending", "added to pending queues = dispatched + purged + still queued",
        counted_.uct_pending_added, p.dispatched + p.purged + p.lost_sight + p.queued,
        log::Layer::uct);
    add("tag_offload", "receives posted to interfaces = ended + still posted",
        counted_.uct_tag_receives, counted_.uct_tag_receives_ended + found_.posted_receives,
        log::Layer::uct);
    add("hooks", "hooks that the interfaces offer a place for + left out = hooks in place",
        found_.slots_offered + found_.left_out, found_.slots_hooked, log::Layer::uct);
    add("arrivals", "arrivals counted = arrival records", counted_.uct_arrivals, found_.arrivals,
        log::Layer::uct);
    add("ucp", "operations counted = operation records", counted_.ucp_operations,
        found_.ucp_operations, log::Layer::ucp);
    add("ucp_completions", "completions counted = operations that a completion record ended",
        counted_.ucp_completed, found_.ucp_ended, log::Layer::ucp);
    const SendTotals& s = found_.sends;
    add("tag_sends", "sends = matched + ambiguous + unmatched + failed", counted_.ucp_sends,
        s.matched + s.ambiguous + s.unmatched + s.failed, log::Layer::ucp);
    const ReceiveTotals& r = found_.receives;
    add("tag_receives",
        "receives = matched + ambiguous + unmatched + cancelled or failed + outstanding",
        counted_.ucp_receives, r.took() + r.failed + r.outstanding, log::Layer::ucp);
    add_received("tag", found_.receives, found_.sends);
    add_ends("puts", counted_.ucp_puts, log::UcpFamily::put);
    add_ends("gets", counted_.ucp_gets, log::UcpFamily::get);
    add_ends("atomics", counted_.ucp_atomics, log::UcpFamily::atomic);
    add_ends("flushes", counted_.ucp_flushes, log::UcpFamily::flush);
    add_active_messages();
    add_streams();
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

  // Wholly, or for the interfaces that one process opened beyond those that can be hooked.
  bool layer_off(log::Layer layer) const {
    return std::any_of(job_.logs.begin(), job_.logs.end(), [&](const ProcessLog& log) {
      const auto out_of_interfaces = [&](const auto& fault) {
        return fault.first.layer == layer &&
               static_cast<log::FaultCode>(fault.first.head.a) == log::FaultCode::out_of_interfaces;
      };
      return log::is_off(log.file.page().layers[static_cast<std::size_t>(layer)]) ||
             std::any_of(log.faults.begin(), log.faults.end(), out_of_interfaces);
    });
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

  void add_ends(const char* name, std::uint64_t counted, log::UcpFamily family) {
    const auto at = found_.ends.find(family);
    const EndTotals ends = at != found_.ends.end() ? at->second : EndTotals{};
    add(name, "accepted = ended + implicit + outstanding", counted,
        ends.ended + ends.implicit + ends.outstanding, log::Layer::ucp);
  }

  void add_active_messages() {
    const SendTotals& s = found_.am_sends;
    add("am_sends", "active messages sent = matched + ambiguous + unmatched + failed",
        counted_.ucp_am_sends, s.matched + s.ambiguous + s.unmatched + s.failed, log::Layer::ucp);
    add("am_receives", "calls of active message handlers = matched + ambiguous + unmatched",
        counted_.ucp_am_receives, found_.am_receives.took(), log::Layer::ucp);
    add_ends("am_data", counted_.ucp_am_data_receives, log::UcpFamily::am_receive_data);
    add_received("am", found_.am_receives, s);
  }

  void add_streams() {
    const SendTotals& s = found_.stream_sends;
    add("stream_sends", "stream sends = matched + ambiguous + unmatched + failed",
        counted_.ucp_stream_sends, s.matched + s.ambiguous + s.unmatched + s.failed,
        log::Layer::ucp);
    const ReceiveTotals& r = found_.stream_receives;
    add("stream_receives",
        "stream receives = matched + ambiguous + unmatched + cancelled or failed + outstanding",
        counted_.ucp_stream_receives, r.took() + r.failed + r.outstanding, log::Layer::ucp);
    const std::uint64_t received = found_.streams.received_bytes;
    const std::uint64_t taken = found_.streams.taken_bytes;
    add("stream", "bytes that receives took from a known end = bytes of sends that receives took",
        received, taken, log::Layer::ucp);
  }

  // What was received was sent by somebody: by a process of the job, unless some of its UCP peers
  // left no log. Not the other way round: a send may end and its message never be received.
  void add_received(const char* name, const ReceiveTotals& receives, const SendTotals& sends) {
    const std::uint64_t received = receives.took();
    const std::uint64_t taken = sends.matched + sends.ambiguous;
    const bool cut = layer_off(log::Layer::ucp) || (received != taken && has_strangers());
    job_.run.identities.push_back({name, "job",
                                   "receives that took a message = sends that a receive took",
                                   received, taken, verdict(received == taken, cut)});
  }

  // Whether somebody outside of the logs may have sent something: in a job of MPI its world says
  // who there is, unless it is connected to another one.
  bool has_strangers() const {
    for (const ProcessLog& log : job_.logs) {
      const bool stranger_known = std::any_of(
          log.ucp_endpoints.begin(), log.ucp_endpoints.end(), [&](const UcpEndpoint& endpoint) {
            return endpoint.peer.process == kNone;
          });
      if (stranger_known || (log.flavour == MpiFlavour::none && !log.workers.empty())) {
        return true;
      }
    }
    return false;
  }

  // Holds only if it holds for every single message: two errors must not make up for each other.
  void add_payload() {
    const bool equal =
        found_.delivered_bytes == found_.covered_bytes && found_.messages_not_covered == 0;
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
  const Found& found_;
  log::LaneCounters counted_;
};

}  // namespace

void check_identities(Job& job, const Found& found) { Checker(job, found).run(); }

}  // namespace uctrace::merge
