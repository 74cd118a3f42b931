// Defines the process's communicators and windows in the log, and their ends. Slow paths: they ask
// the MPI library and may allocate. Everything here runs on the thread of the MPI call it belongs
// to, inside its guard.
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
// The same inside MPI_Init or MPI_Init_thread, recorded as MPI_Init: another tool that wraps these
// may call it before they return.
void describe_world_of_init();

// A program may not use MPI_Init. A process then has its place in the process set mpi://WORLD of
// its first session. Call open_session() once there is a session, and close_session() before it is
// finalized; this returns whether another one is open.
void open_session(Handle session);
bool close_session(Handle session);

// How the process knows its place in the world.
enum class WorldBy : std::uint8_t { nothing, session, init };
UCTRACE_OWN extern constinit std::atomic<WorldBy> world_by;
inline bool world_is_described() {
  return world_by.load(std::memory_order_acquire) != WorldBy::nothing;
}

// Frees the MPI objects that describe_world() kept. Call it before MPI_Finalize.
void release_world();

struct NewCommunicator {
  Handle handle;  // may be MPI_COMM_NULL: this process is not a member
  Handle parent;  // 0: made without a parent
  std::uint16_t function;
  UctraceMaking making;
  std::uint32_t tag;
  const char* tag_text;  // instead of a tag, or nullptr
  bool has_tag;          // the callers are not exactly the processes of `parent`
};
void define_communicator(const NewCommunicator& made);

void end_communicator(Handle handle);
void name_communicator(Handle handle, const char* name);

// A window or file made from a communicator. That may be freed and its handle used again.
struct NewHandle {
  log::RecordType type;
  Handle handle;
  Handle communicator;
};
void define_handle(const NewHandle& made);

// What the record says has ended.
void end_handle(log::RecordType type, Handle handle);

}  // namespace uctrace::mpi
