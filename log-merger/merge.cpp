#include "log-merger/merge.hpp"

#include <fmt/format.h>

#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <vector>

#include "event-log/reader/plain_text.hpp"
#include "log-merger/audit/describe_gpus.hpp"
#include "log-merger/audit/describe_windows.hpp"
#include "log-merger/audit/totals.hpp"
#include "log-merger/connections/connections.hpp"
#include "log-merger/folder/launcher_line.hpp"
#include "log-merger/hang/open_call_notes.hpp"
#include "log-merger/job/job.hpp"
#include "log-merger/library/collectives.hpp"
#include "log-merger/library/library_calls.hpp"
#include "log-merger/memory/place_devices.hpp"
#include "log-merger/mpi/requests.hpp"
#include "log-merger/partitions/partitions.hpp"
#include "log-merger/peers/unlogged_peers.hpp"
#include "log-merger/registration/registration.hpp"
#include "log-merger/rows/build_rows.hpp"
#include "log-merger/summaries/facets.hpp"
#include "log-merger/summaries/gpu_nic.hpp"
#include "log-merger/summaries/latencies.hpp"
#include "log-merger/summaries/profile_identities.hpp"
#include "log-merger/summaries/registrations.hpp"
#include "log-merger/summaries/sums.hpp"
#include "log-merger/summaries/traffic_tables.hpp"
#include "log-merger/waits/waits.hpp"

namespace uctrace {

namespace {

// Begins a stage that advances the merge to `until`, in proportion to its time.
void begin(Progress* progress, const char* stage, double until) {
  if (progress != nullptr) progress->begin(stage, until);
}

merge::Job loaded(LogSet logs, const MergeOptions& options) {
  begin(options.progress, "reading events", 0.35);
  merge::Job job = merge::load_job(std::move(logs), options);
  std::uint64_t events = 0;
  for (const merge::ProcessLog& log : job.logs) events += log.file.event_count();
  if (options.progress != nullptr) options.progress->set_events(events);
  return job;
}

// Results from the run's linked operations: these are no longer needed once they have rows.
void audit(merge::Job& job, const merge::Found& found) {
  merge::check_identities(job, found);
  merge::describe_run(job, found);
  merge::note_recording(job);
  merge::note_disagreements(job);
  merge::note_open_calls(job);
  merge::note_unlogged_peers(job);
}

// Linked records refer to each other by row.
void forget_ids(merge::Job& job) {
  for (merge::ProcessLog& log : job.logs) {
    log.uct_by_id = {};
    log.ucp_by_id = {};
    log.arrival_by_id = {};
  }
}

using Pieces = std::initializer_list<std::function<void()>>;

void each_of(const Workers& workers, Pieces pieces) {
  workers.each(pieces.size(), [&](std::size_t i) { pieces.begin()[i](); });
}

// Sums over the rows, each separately: for the run's identities, and for the run itself. The
// longest come first.
void count(merge::Job& job) {
  Run& run = job.run;
  std::vector<Identity> of_profile;
  TrafficToKeep traffic(run);
  each_of(job.workers, {[&] { traffic.count_messages(); },
                        [&] {
                          run.profile = std::make_shared<const Profile>(profile_of(run));
                          of_profile = profile_identities(run, *run.profile);
                        },
                        [&] {
                          run.facets = find_facets(run);
                          lay_out_sums(run);
                        },
                        [&] { traffic.count_mpi_calls(); }, [&] { merge::lay_out_latencies(run); },
                        [&] { merge::lay_out_registrations(run); }});
  each_of(job.workers, {[&] { traffic.count_transfers(); }, [&] { traffic.count_ucp_operations(); },
                        [&] { merge::lay_out_gpu_nic(run); }});
  traffic.finish(job.workers);
  job.run.identities.insert(job.run.identities.end(), of_profile.begin(), of_profile.end());
}

Run merged(merge::Job job) {
  Progress* const progress = job.workers.progress();
  begin(progress, "matching", 0.5);
  merge::link_peers(job);
  merge::match_messages(job);
  begin(progress, "linking", 0.6);
  merge::name_starts(job);
  merge::link_mpi(job);
  merge::share_waits(job);
  begin(progress, "attributing", 0.7);
  merge::attribute_transfers(job);
  merge::match_streams(job);
  merge::link_memory_calls(job);
  merge::link_library_calls(job);
  merge::resolve_stacks(job);
  merge::name_collectives(job);
  forget_ids(job);
  begin(progress, "making rows", 0.85);
  merge::build_messages(job);
  const merge::Found found = merge::count_found(job);
  // These are no longer needed, nor are UCT operations that have a row.
  each_of(job.workers, {[&] { job.arrivals = {}; }, [&] { job.operations_of = {}; }});
  merge::add_memory_calls(job);
  merge::add_kernel_accesses(job);
  merge::add_library_calls(job);
  merge::add_connections(job);
  merge::build_transfers(job, merge::Operations::go);
  merge::build_mpi_calls(job);
  merge::place_devices(job);
  merge::find_clock_violations(job);
  merge::find_partitions(job);
  merge::find_waits(job);
  merge::add_registration_to_waits(job);
  audit(job, found);
  // The sums take as much memory as the UCP operations, so these are freed before.
  merge::build_ucp_operations(job, merge::Operations::go);
  job.calls = {};
  job.run.last_ns = last_instant(job.run);
  count(job);
  if (!job.logs.empty()) {
    const log::LogFile& first = job.logs.front().file;
    job.run.run_id = fmt::format("{}@{}", plain_text(first.job()), job.run.epoch_realtime_ns);
  }
  for (std::string& note : job.run.notes) {
    note = plain_text(note);  // they name files and processes
  }
  job.run.settled = are_settled(job.run.sources);
  job.logs = {};
  return std::move(job.run);
}

}  // namespace

Run merge_logs(LogSet logs, const MergeOptions& options) {
  return merged(loaded(std::move(logs), options));
}

Run merge_folder(const std::filesystem::path& folder, const MergeOptions& options) {
  begin(options.progress, "opening logs", 0.15);
  merge::Job job = loaded(read_logs(folder, options), options);
  try {
    job.run.command = merge::launcher_line(folder, job.logs.front().file.job());
  } catch (const log::FileError& error) {
    note_unreadable(job.run, kRunFile, error);
    job.run.notes.push_back(error.message());
  }
  return merged(std::move(job));
}

}  // namespace uctrace
