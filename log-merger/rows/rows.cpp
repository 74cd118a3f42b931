// Makes the rows of a Run from the linked job: the paths of messages, transfers, operations.
#include <string_view>

#include "log-merger/job/job.hpp"
#include "log-merger/mpi/communicators.hpp"
#include "log-merger/rows/build_rows.hpp"
#include "log-merger/rows/message_paths.hpp"
#include "log-merger/rows/row_maker.hpp"
#include "log-merger/rows/settings.hpp"

namespace uctrace::merge {

namespace {

class RowBuilder {
 public:
  explicit RowBuilder(Job& job) : job_(job), run_(job.run) {}

  void build() {
    add_processes();
    add_settings(job_);
    add_communicators();
    lay_out_paths(job_, make_messages(job_));
  }

 private:
  void add_processes() {
    for (ProcessLog& log : job_.logs) {
      const log::ProcessPage& page = log.file.page();
      Process row;
      row.key = text(log.file.process_key());
      row.host = text(log.file.host());
      row.pid = page.pid;
      row.rank = log.rank();
      row.world_size = page.world_size;
      row.world = log.world;
      row.complete = log.file.complete();
      row.exit = text(exit_of(log));
      row.events = log.file.event_count();
      row.log_bytes = log.file.size_bytes();
      row.ucp_libraries = static_cast<std::uint32_t>(log.ucp_libraries.size());
      run_.processes.push_back(row);
    }
  }

  void add_communicators() {
    for (const CommInstance& comm : job_.comms) {
      const bool only_second = comm.sides[0].world == kNone && comm.sides[1].world != kNone;
      const CommSide& first = comm.sides[only_second ? 1 : 0];
      const CommSide& second = comm.sides[only_second ? 0 : 1];
      Communicator row;
      row.name = comm.name;
      row.user_name = comm.user_name;
      row.function = comm.function;
      row.parent = comm.parent.number();
      row.world = first.world;
      row.remote_world = second.world;
      row.leader = first.leader;
      row.remote_leader = second.leader;
      row.size = first.size;
      row.remote_size = second.size;
      row.complete = first.complete && (!comm.inter || second.complete);
      row.created_ns = comm.created_ns;
      row.freed_ns = comm.freed_ns;
      row.first_member = static_cast<std::uint32_t>(run_.communicator_members.size());
      for (const CommSide* side : {&first, &second}) {
        for (const log::RankRun& run : side->members) {
          run_.communicator_members.push_back({side == &second, run.first, run.stride, run.count});
        }
      }
      row.members = static_cast<std::uint32_t>(run_.communicator_members.size()) - row.first_member;
      run_.communicators.push_back(row);
    }
  }

  static std::string_view exit_of(const ProcessLog& log) {
    const log::ProcessPage& page = log.file.page();
    if (page.exit == log::ExitKind::aborted) return "aborted";
    if (page.exit == log::ExitKind::exited) return "exited";
    switch (log.file.state()) {
      case log::WriterState::closed:
        return page.exit == log::ExitKind::finalized ? "finalized" : "exited";
      case log::WriterState::running:
        return "running";
      case log::WriterState::unseen:
        return "unseen";
      case log::WriterState::dead:
        break;
    }
    return "killed";
  }

  TextId text(std::string_view value) { return run_.texts.intern(value); }

  Job& job_;
  Run& run_;
};

}  // namespace

std::int32_t world_rank(const Job& job, const MpiCall& call, std::int32_t peer) {
  if (peer < 0 || call.comm == kNone) {
    return peer;
  }
  return addressed_rank(job, call.process, call.comm, peer).value_or(log::MpiCall::kNone);
}

void build_messages(Job& job) { RowBuilder(job).build(); }

void build_rows(Job& job) {
  build_messages(job);
  build_transfers(job, Operations::stay);
  build_mpi_calls(job);
  build_ucp_operations(job, Operations::stay);
}

}  // namespace uctrace::merge
