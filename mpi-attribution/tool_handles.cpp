#include "mpi-attribution/tool_handles.hpp"

#include <cstdlib>

namespace uctrace::mpi {

namespace detail {
constinit ToolHandle* tool_handles[kMostToolHandles]{};
constinit std::size_t tool_handles_used = 0;
}  // namespace detail

namespace {

using detail::kMostToolHandles;
using detail::tool_handles;
using detail::tool_handles_used;

constexpr Word kTag = Word{0x5543} << 48;
constexpr Word kTagMask = Word{0xffff} << 48;
static_assert(kMostToolHandles <= std::size_t{1} << 16);

constexpr std::size_t kMostSessions = 4096;
constinit Word sessions[kMostSessions]{};
constinit interpose::ForkLock answering;
constinit std::uint32_t next_number = 0;
constinit std::uint32_t process = 0;  // the owner of these handles

Word word_of(std::size_t place, std::uint32_t number) {
  return kTag | static_cast<Word>(number) << 16 | place;
}

bool replace_session(Word was, Word is) {
  for (Word& session : sessions) {
    if (session != was) continue;
    session = is;
    return true;
  }
  return false;
}

}  // namespace

ToolLock::ToolLock() : held_(answering) {
  if (process == interpose::process_number()) return;
  process = interpose::process_number();
  // A fork child's counters begin at 0; these handles belong to the parent's. One may be half made.
  for (ToolHandle*& handle : tool_handles) handle = nullptr;
  tool_handles_used = 0;
}

bool is_tagged(Word handle) { return (handle & kTagMask) == kTag; }

ToolHandle* find_handle(Word handle) {
  const std::size_t place = handle & 0xffff;
  if (!is_tagged(handle) || place >= tool_handles_used) return nullptr;
  ToolHandle* found = tool_handles[place];
  return found != nullptr && found->word == handle ? found : nullptr;
}

ToolHandle* make_handle(std::size_t count, std::size_t ranks) {
  std::size_t place = 0;
  while (place < tool_handles_used && tool_handles[place] != nullptr) ++place;
  if (place == kMostToolHandles) return nullptr;
  const std::size_t bytes =
      sizeof(ToolHandle) + 3 * count * sizeof(std::uint64_t) + ranks * sizeof(std::int32_t);
  auto* handle = static_cast<ToolHandle*>(std::calloc(1, bytes));
  if (handle == nullptr) return nullptr;
  handle->word = word_of(place, next_number++);
  handle->count = count;
  handle->saved = reinterpret_cast<std::uint64_t*>(handle + 1);
  handle->base = handle->saved + count;
  handle->now = handle->base + count;
  handle->comm.world_ranks = reinterpret_cast<const std::int32_t*>(handle->now + count);
  tool_handles[place] = handle;
  if (place == tool_handles_used) ++tool_handles_used;
  return handle;
}

void free_handle(ToolHandle* handle) {
  tool_handles[handle->word & 0xffff] = nullptr;
  free_copy(handle->since);
  std::free(handle);
}

bool know_session(Word session) { return is_known_session(session) || replace_session(0, session); }

bool is_known_session(Word session) { return session != 0 && replace_session(session, session); }

void end_session(Word session) {
  if (!is_known_session(session)) return;
  replace_session(session, 0);
  for_each_handle([&](ToolHandle& handle) {
    if (handle.variable != nullptr && handle.session == session) free_handle(&handle);
  });
}

void end_all_sessions() {
  for (Word& session : sessions) session = 0;
  for_each_handle([](ToolHandle& handle) { free_handle(&handle); });
}

}  // namespace uctrace::mpi
