// What reports count, out of the sums of a run where they can tell what is asked, else out of its
// rows. What is visited stands for one row or for many that are alike: `like` is one of them as far
// as filters look at it, and where a length decides, one of the same class of sizes
// (size_class.hpp).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "log-merger/model/model.hpp"
#include "log-merger/row-source/row_source.hpp"
#include "log-merger/summaries/filter.hpp"

namespace uctrace {

struct Traffic {
  const Message& like;
  std::span<const Hop> path;  // of all of them; hops that are alike may be one
  std::uint64_t messages, bytes;
};
// The messages that the filter accepts. `wanted` of `like`, besides what the filter looks at; its
// ends and memory, its function, communicator and protocol may be asked for. `bytes` are there if
// Message::bytes is wanted, and `path` has the members that are wanted of it.
void for_each_traffic(const RowSource& source, const Filter& filter, const Wanted<Message>& wanted,
                      const Wanted<Hop>& of_path, const std::function<void(const Traffic&)>& visit);

struct Calls {
  TextId function, comm;
  std::uint32_t process;
  // Where they were called, -1 = in no stack outside of the libraries; nullopt: not known.
  std::optional<std::int32_t> call_site;
  std::uint64_t calls, bytes, ns;  // bytes: by the arguments
  bool is_timed;                   // a time of one of them at least is known
};
// The MPI calls that the filter accepts.
void for_each_calls(const RowSource& source, const Filter& filter,
                    const std::function<void(const Calls&)>& visit);
// The UCP operations that were not called by MPI, of which the place is known, and whose message,
// where they have one, the filter selects.
void for_each_operations(const RowSource& source, const Filter& filter,
                         const std::function<void(const Calls&)>& visit);

struct TransfersWithoutMessage {
  const Transfer& like;
  std::uint64_t transfers, payload_bytes, wire_bytes;
};
// Those that the filter accepts.
void for_each_without_message(const RowSource& source, const Filter& filter,
                              const std::function<void(const TransfersWithoutMessage&)>& visit);
// How many there are in all.
std::uint64_t count_without_message(const RowSource& source);

// Rows of sums as what they stand for.
Message like(const MessageSum& sum);
Hop hop_of(const HopSum& sum);

}  // namespace uctrace
