// Keeps the log's picture of the process's communicators and windows. Slow paths: they ask the MPI
// library and may allocate. Everything here runs on the thread of the MPI call it belongs to,
// inside its guard.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "event-log/format/kinds.hpp"
#include "event-log/recorder/own.hpp"
#include "mpi-attribution/library.hpp"

namespace uctrace::mpi {

// Defines the predefined communicators and the place of the process in MPI_COMM_WORLD, once, if MPI
// is initialised. `function` is the number of the call that led here.
void describe_world(std::uint16_t function);
// The same inside MPI_Init or MPI_Init_thread, of which it says MPI_Init: another tool that wraps
// them may ask before they return.
void describe_world_of_init();

// A program may do without MPI_Init: then each process has its place from the set of processes
// mpi://WORLD of its first session. open_session() is called once there is a session, and
// close_session() before it is finalized; whether another one is open.
void open_session(Handle session);
bool close_session(Handle session);

// By what the process knows its place in the world.
enum class WorldBy : std::uint8_t { nothing, session, init };
UCTRACE_OWN extern constinit std::atomic<WorldBy> world_by;
inline bool world_is_described() {
  return world_by.load(std::memory_order_acquire) != WorldBy::nothing;
}

// Gives back the library's objects that describe_world() kept. To be called before MPI_Finalize.
void release_world();

struct NewCommunicator {
  Handle handle;  // may be MPI_COMM_NULL: this process is not a member
  Handle parent;  // 0 if it was made from none
  std::uint16_t function;
  UctraceMaking making;
  std::uint32_t tag;
  const char* tag_text;  // in the place of a tag, or nullptr
  bool has_tag;          // the call is not made by all processes of `parent` alone
};
void define_communicator(const NewCommunicator& made);

void end_communicator(Handle handle);
void name_communicator(Handle handle, const char* name);

// A window or a file was made from a communicator, which may be freed and its handle used again.
struct NewHandle {
  log::RecordType type;
  Handle handle;
  Handle communicator;
};
void define_handle(const NewHandle& made);

// What the record says has ended.
void end_handle(log::RecordType type, Handle handle);

}  // namespace uctrace::mpi
