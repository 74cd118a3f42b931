#include "log-merger/merge.hpp"

#include <fmt/format.h>

#include "log-merger/job.hpp"
#include "log-merger/totals.hpp"

namespace uctrace {

Run merge_folder(const std::filesystem::path& folder, const MergeOptions& options) {
  merge::Job job = merge::load_job(folder, options);
  merge::link_peers(job);
  merge::match_messages(job);
  merge::link_mpi(job);
  merge::attribute_transfers(job);
  merge::build_rows(job);
  const merge::Found found = merge::count_found(job);
  merge::check_identities(job, found);
  merge::describe_run(job, found);
  if (!job.logs.empty()) {
    const log::LogFile& first = job.logs.front().file;
    job.run.run_id = fmt::format("{}@{}", first.job(), job.run.epoch_realtime_ns);
  }
  return std::move(job.run);
}

}  // namespace uctrace
