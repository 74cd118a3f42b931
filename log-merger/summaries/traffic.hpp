// The input of reports: from the sums of a run if these are sufficient, else from its rows. Each
// visit represents one or many similar rows: `like` is one of them as far as filters are concerned;
// for lengths, one of the same size class (size_class.hpp).
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
  std::span<const Hop> path;  // of all of them; similar hops may be joined
  std::uint64_t messages, bytes;
};
// Visits the messages that the filter accepts. `wanted` members of `like`, besides the filter's
// own: ends and memory, function, communicator and protocol are possible. `bytes` is set if
// Message::bytes is wanted, and `path` has its wanted members.
void for_each_traffic(const RowSource& source, const Filter& filter, const Wanted<Message>& wanted,
                      const Wanted<Hop>& of_path, const std::function<void(const Traffic&)>& visit);

struct Calls {
  TextId function, comm;
  std::uint32_t process;
  // Their call site, -1 = no frame outside the libraries; nullopt: not known.
  std::optional<std::int32_t> call_site;
  std::uint64_t calls, bytes, ns;  // bytes: by the arguments
  bool is_timed;                   // the time of at least one is known
};
// Visits the MPI calls that the filter accepts.
void for_each_calls(const RowSource& source, const Filter& filter,
                    const std::function<void(const Calls&)>& visit);
// Visits the UCP operations outside MPI and other libraries with a known call site whose message,
// if any, the filter selects.
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

// Rows of sums as the rows that they represent.
Message like(const MessageSum& sum);
Hop hop_of(const HopSum& sum);

}  // namespace uctrace
