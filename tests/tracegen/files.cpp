// Files: what MPI sends to open one, to write it by all, and to close it, on a communicator of its
// own. What a process reads by itself sends nothing.
#include "tests/tracegen/process_run.hpp"

namespace uctrace::tracegen {

namespace {
constexpr MpiFunction kCalls[Step::kFileCalls] = {
    MpiFunction::file_open, MpiFunction::file_write_at_all, MpiFunction::file_close};
}  // namespace

void ProcessRun::file(const Step& step) {
  for (std::uint32_t which = 0; which < Step::kFileCalls; ++which) call_on_file(step, which);
}

void ProcessRun::call_on_file(const Step& step, std::uint32_t which) {
  const MpiFunction function = kCalls[which];
  const Calls calls{function, function};
  const std::uint32_t first = which * step.windows_of_call(), last = first + step.windows_of_call();
  for (std::uint32_t window = first; window < last; ++window) {
    fill_window(step, window, 0);
    post_receives(calls);
    for (Sender& sender : window_.senders) sender.post(calls);
    replies(step, calls, 0, kLastPart);
    tell_truth(calls);
  }
  const std::int64_t begin =
      step.begin_ns + step.window_ns * first + jitter_of(step, log_.rank()) - 100;
  const std::int64_t end = step.begin_ns + step.window_ns * last - kGapNs / 2;
  const std::uint64_t opened = shape_.file_handle(step.comm);
  if (function == MpiFunction::file_open) {
    call(0, function, begin, end, shape_.comm_handle(step.comm));
    log_.define_file(step.comm, end);
    return;
  }
  MpiParts parts;
  parts.has_volume = function == MpiFunction::file_write_at_all;
  parts.bytes = parts.has_volume ? step.base_bytes : 0;
  parts.datatype = parts.has_volume ? handle::kByte : 0;
  constexpr auto kOnFile = log::RecordType::mpi_file_call;
  call(0, function, begin, end, opened, parts, kOnFile);
  if (function == MpiFunction::file_close) {
    log_.define_end_of_file(step.comm, end);
    return;
  }
  MpiParts request;
  request.request = parts.request = mpi_request(true, 0, 0xffd);
  call(0, MpiFunction::file_iread_at, end + 100, end + 150, opened, parts, kOnFile);
  call(0, MpiFunction::wait, end + 200, end + 300, 0, request);
}

}  // namespace uctrace::tracegen
