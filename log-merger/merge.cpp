#include "log-merger/merge.hpp"

#include <fmt/format.h>

#include "event-log/reader/plain_text.hpp"
#include "log-merger/audit/describe_gpus.hpp"
#include "log-merger/audit/describe_windows.hpp"
#include "log-merger/audit/totals.hpp"
#include "log-merger/folder/launcher_line.hpp"
#include "log-merger/job/job.hpp"
#include "log-merger/memory/place_devices.hpp"
#include "log-merger/mpi/open_calls.hpp"
#include "log-merger/mpi/requests.hpp"
#include "log-merger/peers/unlogged_peers.hpp"
#include "log-merger/summaries/facets.hpp"
#include "log-merger/summaries/gpu_nic.hpp"
#include "log-merger/summaries/sums.hpp"

namespace uctrace {

namespace {

Run merged(merge::Job job) {
  merge::link_peers(job);
  merge::match_messages(job);
  merge::name_starts(job);
  merge::link_mpi(job);
  merge::share_waits(job);
  merge::attribute_transfers(job);
  merge::match_streams(job);
  merge::resolve_stacks(job);
  merge::build_rows(job);
  merge::place_devices(job);
  merge::lay_out_gpu_nic(job.run);
  merge::find_clock_violations(job);
  const merge::Found found = merge::count_found(job);
  merge::check_identities(job, found);
  merge::describe_run(job, found);
  merge::note_recording(job);
  merge::note_disagreements(job);
  merge::note_open_calls(job);
  merge::note_unlogged_peers(job);
  if (!job.logs.empty()) {
    const log::LogFile& first = job.logs.front().file;
    job.run.run_id = fmt::format("{}@{}", plain_text(first.job()), job.run.epoch_realtime_ns);
  }
  for (std::string& note : job.run.notes) {
    note = plain_text(note);  // they name files and processes
  }
  job.run.last_ns = last_instant(job.run);
  job.run.facets = find_facets(job.run);
  lay_out_sums(job.run);
  job.run.settled = are_settled(job.run.sources);
  return std::move(job.run);
}

}  // namespace

Run merge_logs(LogSet logs, const MergeOptions& options) {
  return merged(merge::load_job(std::move(logs), options));
}

Run merge_folder(const std::filesystem::path& folder, const MergeOptions& options) {
  merge::Job job = merge::load_job(read_logs(folder, options.job), options);
  try {
    job.run.command = merge::launcher_line(folder, job.logs.front().file.job());
  } catch (const log::FileError& error) {
    note_unreadable(job.run, kRunFile, error);
    job.run.notes.push_back(error.message());
  }
  return merged(std::move(job));
}

}  // namespace uctrace
