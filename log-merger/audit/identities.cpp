// The accounting identities: each compares a count made in the job with one made from its records.
// If the user did not want all events recorded, the identities are about the recorded windows: the
// logs have each thread's counts at the opening and closing of each window. Of events overwritten
// in a log of bounded size only the number is known.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "log-merger/audit/totals.hpp"
#include "log-merger/peers/unlogged_peers.hpp"

namespace uctrace::merge {

namespace {

// Whether threads may have been inside a call when their process ended, and so counted or recorded
// it, but not both.
bool ended_among_threads(const Job& job) {
  return std::any_of(job.logs.begin(), job.logs.end(),
                     [](const ProcessLog& log) { return log.file.page().threads_at_end != 0; });
}

class Checker {
 public:
  Checker(Job& job, const Found& found)
      : job_(job),
        complete_(job_complete(job)),
        ended_among_threads_(ended_among_threads(job)),
        partly_recorded_(job.partly_recorded()),
        overwritten_(total_overwritten(job)),
        found_(found),
        counted_(count_recorded(job)) {}

  void run() {
    const std::uint64_t reasons = sum_of_reasons();
    add_events();
    add("uct", "posted_ok = attributed_ucp + reasons + unattributed", counted_.uct_posted_ok,
        found_.attributed + reasons + found_.unattributed, log::Layer::uct);
    add_ends_of_uct();
    const PendingTotals& p = found_.pending;
    add("pending",
        begun("added to pending queues",
              "= dispatched + purged + still queued + no longer followed"),
        counted_.uct_pending_added + p.outside, p.dispatched + p.purged + p.lost_sight + p.queued,
        log::Layer::uct);
    job_.run.identities.push_back(
        {"hooks", "job", "hooks that the interfaces offer a place for + left out = hooks in place",
         found_.slots_offered + found_.left_out, found_.slots_hooked,
         verdict(found_.slots_offered + found_.left_out == found_.slots_hooked,
                 layer_off(log::Layer::uct))});
    add("arrivals", "arrivals counted = arrival records", counted_.uct_arrivals, found_.arrivals,
        log::Layer::uct);
    add("ucp", "operations counted = operation records", counted_.ucp_operations,
        found_.ucp_operations, log::Layer::ucp);
    add("ucp_completions",
        partly_recorded_ ? "completions counted = operations that a completion record ended, those "
                           "begun in no window too"
                         : "completions counted = operations that a completion record ended",
        counted_.ucp_completed, found_.ucp_ended + found_.ucp_ends_of_outside, log::Layer::ucp);
    add_drops();
    const SendTotals& s = found_.sends;
    add("tag_sends", paired("sends", "+ failed"), counted_.ucp_sends, s.all(), log::Layer::ucp);
    const ReceiveTotals& r = found_.receives;
    add("tag_receives", paired("receives", "+ cancelled or failed + outstanding"),
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
    add("library_calls", "calls of libraries above UCX, counted = their records",
        counted_.library_calls, found_.library_calls, log::Layer::library);
    add("memory", "memory stored with operations = in their records", counted_.memory_words,
        found_.memory_words, log::Layer::gpu);
    add_memory_calls();
    add_network("network_sent",
                "bytes proven to have left a machine = those of them that its ports counted",
                found_.ports.sent);
    add_network("network_received",
                "bytes proven to have come to a machine = those of them that its ports counted",
                found_.ports.received);
    if (partly_recorded_) {
      add_kinds();
    } else {
      add_counted_transports();
    }
  }

 private:
  // In windows: the counts include events that began or were sent in no window.
  std::string begun(const char* counted, const char* rest) const {
    return fmt::format("{}{} {}", counted, partly_recorded_ ? " + those of no window" : "", rest);
  }
  std::string paired(const char* counted, const char* rest) const {
    return fmt::format("{} = matched + ambiguous + unmatched{} {}", counted,
                       partly_recorded_ ? " + outside_window" : "", rest);
  }

  void add_events() {
    const bool equal = counted_.recorded_events == found_.used_events + overwritten_;
    job_.run.identities.push_back(
        {"events", "job",
         overwritten_ == 0
             ? "event records published = records that are part of the run"
             : "event records published = records that are part of the run + overwritten",
         counted_.recorded_events, found_.used_events + overwritten_, verdict(equal, false)});
  }

  // Drops make the other identities incomplete, not this one. A process that was killed may have
  // counted one of the two, and a damaged log may have damaged counts.
  void add_drops() {
    std::uint64_t by_cause = 0;
    for (const std::uint64_t count : total_dropped_by_cause(job_)) by_cause += count;
    const bool ended = job_.findings.missing_ranks == 0 && job_.findings.unreadable() == 0 &&
                       std::all_of(job_.logs.begin(), job_.logs.end(), [](const ProcessLog& log) {
                         return log.file.page().closed == 1 && !log.file.damage().any();
                       });
    const std::uint64_t by_kind = total_dropped(job_);
    const bool equal = by_kind == by_cause;
    job_.run.identities.push_back({"drops", "job", "records dropped, by kind = by cause", by_kind,
                                   by_cause,
                                   !ended || (!equal && ended_among_threads_) ? Verdict::incomplete
                                   : equal                                    ? Verdict::holds
                                                                              : Verdict::violated});
  }

  // Operations that ended in a window and began in none may be of either kind.
  void add_ends_of_uct() {
    const bool unclear = partly_recorded_ && counted_.uct_tag_receives_ended != 0;
    const std::uint64_t begun_outside = unclear ? 0 : found_.uct_ends_of_outside;
    add("completions", begun("inprogress", "= completed + outstanding + without_handle"),
        counted_.uct_inprogress + begun_outside,
        counted_.uct_completed + found_.outstanding + counted_.uct_without_handle, log::Layer::uct,
        unclear);
    add("tag_offload", "receives posted to interfaces = ended + still posted",
        counted_.uct_tag_receives, counted_.uct_tag_receives_ended + found_.posted_receives,
        log::Layer::uct, unclear);
  }

  // For the whole run: only events that the user did not want are missing.
  void add_kinds() {
    const log::LaneCounters run = count_counted(job_);
    const std::uint64_t counted[] = {run.uct_posted_ok + run.uct_errors + run.uct_no_resource +
                                         run.uct_completed + run.uct_tag_receives_ended +
                                         run.uct_arrivals + run.uct_pending_added +
                                         run.uct_pending_left + run.memory_calls,
                                     run.ucp_operations + run.ucp_completed,
                                     run.mpi_calls + run.mpi_request_records + run.library_calls};
    constexpr const char* kNames[] = {"recorded_uct", "recorded_ucp", "recorded_mpi"};
    for (std::size_t kind = 0; kind < std::size(counted); ++kind) {
      std::uint64_t explained = run.dropped[kind];
      for (const ProcessLog& log : job_.logs) {
        explained += log.events_by_kind[kind] + log.recorded.missing_by_kind[kind];
      }
      job_.run.identities.push_back(
          {kNames[kind], "job",
           "events counted in the whole run = recorded + outside of windows + overwritten + "
           "dropped",
           counted[kind], explained,
           verdict(counted[kind] == explained, layer_off(static_cast<log::Layer>(kind)))});
    }
  }

  std::uint64_t sum_of_reasons() const {
    std::uint64_t sum = 0;
    for (const auto& [name, count] : found_.reasons) {
      sum += count;
    }
    return sum;
  }

  // Off entirely, or for interfaces of a process beyond those that can be hooked. If MPI was
  // bypassed, the UCX loaded with it may have been, too.
  bool layer_off(log::Layer layer) const {
    return std::any_of(job_.logs.begin(), job_.logs.end(), [&](const ProcessLog& log) {
      const auto out_of_interfaces = [&](const auto& fault) {
        return fault.first.layer == layer &&
               static_cast<log::FaultCode>(fault.first.head.a) == log::FaultCode::out_of_interfaces;
      };
      const log::LayerState state = log.file.page().layers[static_cast<std::size_t>(layer)];
      return log::is_off(state) ||
             (state == log::LayerState::unused && layer != log::Layer::gpu &&
              was_bypassed(log, log::FaultCode::mpi_bypassed)) ||
             std::any_of(log.faults.begin(), log.faults.end(), out_of_interfaces);
    });
  }

  Verdict verdict(bool equal, bool cut) const {
    if (!complete_ || cut) {
      return Verdict::incomplete;
    }
    if (!equal && ended_among_threads_) {
      return Verdict::incomplete;
    }
    return equal ? Verdict::holds : Verdict::violated;
  }

  const char* scope() const { return partly_recorded_ ? "windows" : "job"; }

  void add(const char* name, std::string statement, std::uint64_t left, std::uint64_t right,
           log::Layer layer, bool unclear = false) {
    const bool cut = unclear || overwritten_ != 0 || layer_off(layer);
    job_.run.identities.push_back(
        {name, scope(), std::move(statement), left, right, verdict(left == right, cut)});
  }

  void add_ends(const char* name, std::uint64_t counted, log::UcpFamily family) {
    const auto at = found_.ends.find(family);
    const EndTotals ends = at != found_.ends.end() ? at->second : EndTotals{};
    add(name, "accepted = ended + implicit + outstanding", counted,
        ends.ended + ends.implicit + ends.outstanding, log::Layer::ucp);
  }

  // Memory registered outside the windows may be deregistered inside one.
  void add_memory_calls() {
    add("memory_calls", "calls that make memory known, counted = their records",
        counted_.memory_calls, found_.memory_calls, log::Layer::uct);
    add("registered_bytes", "bytes registered, counted = in the records", counted_.registered_bytes,
        found_.registered_bytes, log::Layer::uct);
    add("deregistrations", "deregistrations = registrations that one of them ended",
        found_.deregistrations, found_.ended_registrations, log::Layer::uct,
        partly_recorded_ && found_.deregistrations != found_.ended_registrations);
  }

  void add_active_messages() {
    const SendTotals& s = found_.am_sends;
    add("am_sends", paired("active messages sent", "+ failed"), counted_.ucp_am_sends, s.all(),
        log::Layer::ucp);
    add("am_receives",
        partly_recorded_
            ? "calls of active message handlers = matched + ambiguous + unmatched + outside_window"
            : "calls of active message handlers = matched + ambiguous + unmatched",
        counted_.ucp_am_receives, found_.am_receives.took(), log::Layer::ucp);
    add_ends("am_data", counted_.ucp_am_data_receives, log::UcpFamily::am_receive_data);
    add_received("am", found_.am_receives, s);
  }

  void add_streams() {
    const SendTotals& s = found_.stream_sends;
    add("stream_sends", paired("stream sends", "+ failed"), counted_.ucp_stream_sends, s.all(),
        log::Layer::ucp);
    const ReceiveTotals& r = found_.stream_receives;
    add("stream_receives", paired("stream receives", "+ cancelled or failed + outstanding"),
        counted_.ucp_stream_receives, r.took() + r.failed + r.outstanding, log::Layer::ucp);
    const std::uint64_t received = found_.streams.received_bytes;
    const std::uint64_t taken = found_.streams.taken_bytes;
    add("stream", "bytes that receives took from a known end = bytes of sends that receives took",
        received, taken, log::Layer::ucp);
  }

  // Each received message was sent by a process of the job, unless some of its UCP peers left no
  // log. The reverse does not hold: a send may complete without its message being received.
  void add_received(const char* name, const ReceiveTotals& receives, const SendTotals& sends) {
    const std::uint64_t received = receives.took() - receives.outside;
    const std::uint64_t taken = sends.matched + sends.ambiguous;
    const bool cut =
        layer_off(log::Layer::ucp) || (received != taken && may_have_unlogged_peers(job_));
    job_.run.identities.push_back({name, scope(),
                                   "receives that took a message = sends that a receive took",
                                   received, taken, verdict(received == taken, cut)});
  }

  // Must hold for every single message: two errors must not cancel out. If messages came from a
  // process without a log, their fetched data may have been tied to other messages by content.
  void add_payload() {
    const bool equal =
        found_.delivered_bytes == found_.covered_bytes && found_.messages_not_covered == 0;
    const bool from_unlogged = may_have_unlogged_peers(job_) &&
                               found_.receives.unmatched + found_.am_receives.unmatched != 0;
    const bool cut =
        layer_off(log::Layer::uct) || layer_off(log::Layer::ucp) || (!equal && from_unlogged);
    job_.run.identities.push_back(
        {"payload", partly_recorded_ ? "every message in a window" : "every delivered message",
         "bytes of the message = bytes its transfers cover, each byte once", found_.delivered_bytes,
         found_.covered_bytes, verdict(equal, cut)});
    if (found_.messages_not_covered > 0) {
      job_.run.notes.push_back(fmt::format(
          "{} delivered message(s) are not covered exactly by their transfers: their paths are not "
          "complete",
          found_.messages_not_covered));
    }
  }

  // Bytes that certainly passed a port, and how many of them the port counted. A run on one machine
  // has none.
  void add_network(const char* name, const char* statement, const PortCheck& check) {
    if (!check.any()) return;
    const bool equal = check.passed == check.covered;
    const Verdict result = verdict(equal, check.unclear && !check.violated);
    job_.run.identities.push_back({name, scope(), statement, check.passed, check.covered, result});
    if (result != Verdict::violated) return;
    job_.run.notes.push_back(fmt::format(
        "{}: ports counted {} B less than passed them: a counter was cleared while the job ran, "
        "cards were used as one or without the kernel, or the records are wrong; `uctrace report "
        "--by rails` shows the ports",
        name, check.passed - check.covered));
  }

  // Counters go on while no events are recorded: then there is nothing to compare.
  void add_counted_transports() {
    const CountedTransports& both = found_.counted_transports;
    if (!both.any || counted_.uct_posted_ok == 0) return;  // counters alone: logs count nothing
    const bool cut = both.unclear || overwritten_ != 0 || layer_off(log::Layer::uct);
    job_.run.identities.push_back(
        {"counted_transports", "job",
         "operations in the counters = recorded, by process, transport and operation, and so their "
         "bytes",
         both.counted, both.recorded, verdict(both.differing == 0, cut)});
    if (both.differing != 0 && !cut && complete_) {
      job_.run.notes.push_back(
          fmt::format("counters and records differ in {} operation(s) of a process and transport: "
                      "`uctrace counters --by transports` and `report` show them",
                      both.differing));
    }
  }

  Job& job_;
  bool complete_, ended_among_threads_, partly_recorded_;
  std::uint64_t overwritten_;
  const Found& found_;
  log::LaneCounters counted_;
};

}  // namespace

void check_identities(Job& job, const Found& found) { Checker(job, found).run(); }

}  // namespace uctrace::merge
