// The calls of a process to libraries above UCX other than MPI. Private to log-merger/.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "event-log/format/events.hpp"
#include "event-log/format/ucc_operations.hpp"
#include "log-merger/model/index.hpp"
#include "log-merger/model/kinds.hpp"

namespace uctrace::merge {

// What a call of UCC does with a collective operation or for those to come.
enum class UccCall : std::uint8_t { other, makes_context, makes_team, begins, starts, ends };

struct LibraryCall {
  std::uint16_t lane = 0;
  std::uint16_t function = 0;  // its number: LibraryCalls::functions
  std::int32_t peer = 0, status = 0;
  std::uint32_t stack = 0;  // of the log, 0 = none
  std::uint64_t start_tick = 0, end_tick = 0;
  std::uint64_t scope = 0, bytes = 0, request = 0;
  bool knows_bytes = true;
  // Of UCC, the call that begins a collective operation: which one, and stacks of one frame, each a
  // place in UCC's layers that made a task of it; 0 = no further one.
  std::optional<log::UccOperation> operation;
  std::uint32_t makers[log::LibraryCall::kMostMakers] = {};
  // results
  std::uint64_t operations = 0, operation_bytes = 0;
  std::uint64_t inferred_operations = 0, inferred_bytes = 0;  // not of those
  UccCall ucc = UccCall::other;
  LibraryCallIndex begun_by;  // the call that made its request; itself, if it did
  TextId collective = kNoText, layers = kNoText, algorithm = kNoText;  // if it begins one
};

struct LibraryCalls {
  std::vector<LibraryCall> calls;             // once linked: by lane, then start
  std::map<std::uint64_t, TextId> functions;  // names, by number
  std::map<std::uint64_t, TextId> libraries;  // names, by number
  std::map<std::uint64_t, TextId> versions;   // what libraries say of themselves, by number
  std::size_t first_row = 0;                  // of its calls in Run::library_calls

  // The number of its library.
  static std::uint64_t number_of(const LibraryCall& call) {
    return call.function >> log::LibraryCall::kFunctionBits;
  }
  TextId library_of(const LibraryCall& call) const { return name_in(libraries, number_of(call)); }
  TextId function_of(const LibraryCall& call) const { return name_in(functions, call.function); }

  // The call that began what this one starts or ends; else this one.
  const LibraryCall& beginning_of(const LibraryCall& call) const {
    return call.begun_by != kNone ? calls[call.begun_by.place()] : call;
  }

 private:
  static TextId name_in(const std::map<std::uint64_t, TextId>& names, std::uint64_t number) {
    const auto found = names.find(number);
    return found != names.end() ? found->second : kNoText;
  }
};

}  // namespace uctrace::merge
