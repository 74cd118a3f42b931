#include "mpi-attribution/tool_monitoring.hpp"

#include <cerrno>
#include <cstring>

#include "event-log/recorder/recorder.hpp"
#include "mpi-attribution/counted_comms.hpp"
#include "mpi-attribution/tool_end.hpp"
#include "mpi-attribution/tool_profile.hpp"

namespace uctrace::mpi {
namespace {

constinit std::int32_t enable = 2;  // external messages only, as in Open MPI
constinit std::int32_t enable_output = 0;
constinit char file_name[kVariableText]{};

const UctraceFlavour& constants() { return *library.flavour; }

bool is_profile(const ToolHandle& handle) { return handle.variable->told == Told::profile; }

void copy_text(char* to, const char* from) {
  const std::size_t length = strnlen(from, kVariableText - 1);
  std::memcpy(to, from, length);
  to[length] = '\0';
}

// --- counts --------------------------------------------------------------------------------------

// Adds what was counted since the last time, unless monitoring is off.
int collect(ToolHandle& handle) {
  if (!handle.started) return 0;
  if (!read_values(*handle.variable, handle.comm, handle.now)) return constants().t_memory;
  for (std::size_t i = 0; i < handle.count; ++i) {
    if (enable != 0) handle.saved[i] += handle.now[i] - handle.base[i];
    handle.base[i] = handle.now[i];
  }
  return 0;
}

std::size_t bytes_of_values(const ToolHandle& handle) {
  return handle.count * sizeof *handle.saved;
}

int switch_monitoring(std::int32_t value) {
  int error = 0;
  for_each_handle([&](ToolHandle& handle) {
    if (handle.variable == nullptr || is_profile(handle)) return;
    if (const int problem = collect(handle)) error = problem;
  });
  enable = value;
  return error;
}

// --- profiles ------------------------------------------------------------------------------------

// Without a file name nothing is written, and the next profile includes this time.
int end_profile(ToolHandle& handle) {
  if (*file_name == '\0' || enable == 0) return 0;
  CounterCopy* now = make_copy();
  if (now == nullptr) return constants().t_memory;
  CounterCopy came(*now);
  if (came.is_there()) came.subtract(*handle.since);
  if (!write_profile(file_name, came)) {
    free_copy(now);
    return constants().t_invalid;
  }
  free_copy(handle.since);
  handle.since = now;
  return 0;
}

// MPI requires the address of a handle. Open MPI's own tool (monitoring_prof.c) passes the handle
// itself.
const CountedComm* comm_of(Word object) {
  if (object == 0) return nullptr;
  // Handles of 4 bytes are numbers, some of them negative.
  const auto as_number =
      static_cast<Word>(static_cast<std::int64_t>(static_cast<std::int32_t>(object)));
  const Handle handle = library.handle(object);
  if (handle == object || as_number == object) {
    if (const CountedComm* comm = counted_comm(handle)) return comm;
  }
  return counted_comm(library.handle_at(object));
}

}  // namespace

int bind_variable(const PerformanceVariable& variable, Word session, Word object,
                  ToolHandle** made) {
  const CountedComm* comm = nullptr;
  CounterCopy* since = nullptr;
  std::size_t count = 0, ranks = 0;
  if (variable.told != Told::profile) {
    comm = comm_of(object);
    if (comm == nullptr) return constants().t_invalid;
    ranks = static_cast<std::size_t>(comm->size);
    count = variable.is_by_peer() ? ranks : 1;
  } else if ((since = make_copy()) == nullptr) {
    return constants().t_memory;
  }
  ToolHandle* handle = make_handle(count, ranks);
  if (handle == nullptr) {
    free_copy(since);
    return constants().t_out_of_handles;
  }
  handle->since = since;
  handle->variable = &variable;
  handle->session = session;
  if (comm != nullptr) {
    auto* list = const_cast<std::int32_t*>(handle->comm.world_ranks);
    for (std::int32_t i = 0; i < comm->size; ++i) {
      const std::uint64_t peer = comm->peer(i);
      list[i] = peer != log::kUnknownPeer ? static_cast<std::int32_t>(peer) : -1;
    }
    handle->comm.number = comm->number;
    handle->comm.size = comm->size;
  }
  *made = handle;
  return 0;
}

int start_variable(ToolHandle& handle) {
  if (handle.started) return constants().t_no_startstop;
  if (is_profile(handle)) {
    enable_output = 0;  // as in Open MPI: after a flush, nothing at the end
  } else if (!read_values(*handle.variable, handle.comm, handle.base)) {
    return constants().t_memory;
  }
  handle.started = true;
  return 0;
}

int stop_variable(ToolHandle& handle) {
  if (!handle.started) return constants().t_no_startstop;
  const int error = is_profile(handle) ? end_profile(handle) : collect(handle);
  handle.started = false;
  return error;
}

int read_variable(ToolHandle& handle, void* out) {
  if (is_profile(handle)) {
    copy_text(static_cast<char*>(out), file_name);
    return 0;
  }
  if (const int error = collect(handle)) return error;
  std::memcpy(out, handle.saved, bytes_of_values(handle));
  return 0;
}

int write_variable(ToolHandle& handle, const void* in) {
  if (is_profile(handle)) {
    copy_text(file_name, in != nullptr ? static_cast<const char*>(in) : "");
    return 0;
  }
  if (in == nullptr) return constants().t_invalid;
  if (const int error = collect(handle)) return error;
  std::memcpy(handle.saved, in, bytes_of_values(handle));
  return 0;
}

int reset_variable(ToolHandle& handle) {
  if (is_profile(handle)) {
    *file_name = '\0';
    return 0;
  }
  if (const int error = collect(handle)) return error;
  std::memset(handle.saved, 0, bytes_of_values(handle));
  return 0;
}

int read_and_reset_variable(ToolHandle& handle, void* out) {
  if (is_profile(handle)) return constants().t_no_atomic;
  if (const int error = read_variable(handle, out)) return error;
  std::memset(handle.saved, 0, bytes_of_values(handle));
  return 0;
}

void read_control(int control, void* out) {
  if (control == kFileName) {
    copy_text(static_cast<char*>(out), file_name);
  } else {
    std::memcpy(out, control == kEnable ? &enable : &enable_output, sizeof enable);
  }
}

int write_control(int control, const void* in) {
  if (control == kFileName) {
    copy_text(file_name, in != nullptr ? static_cast<const char*>(in) : "");
    return 0;
  }
  if (in == nullptr) return constants().t_invalid;
  std::int32_t value = 0;
  std::memcpy(&value, in, sizeof value);
  if (value < 0) return constants().t_invalid;
  if (control == kEnable) return switch_monitoring(value);
  enable_output = value;
  return 0;
}

void write_last_profile() {
  if (!uctrace_mpi_offers_variables) return;
  std::int32_t output = 0;
  char name[kVariableText];
  {
    // Other threads' calls must not wait for the file.
    const ToolLock held;
    if (enable != 0) output = enable_output;
    copy_text(name, file_name);
  }
  if (output == 0) return;
  CounterCopy rows;
  if (rows.is_there()) rows.sort();
  if (output <= 2) {
    write_profile(output, rows);
  } else if (*name != '\0' && !write_profile(name, rows)) {
    log::fault(log::Layer::mpi, log::FaultCode::profile_not_written, errno, name);
  }
}

}  // namespace uctrace::mpi
