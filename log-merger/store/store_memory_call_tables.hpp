// The tables of registration calls (docs/registration.md).
#pragma once

#include <tuple>

#include "log-merger/model/memory_call_rows.hpp"
#include "log-merger/store/store_columns.hpp"

namespace uctrace::store {

template <>
struct Table<MemoryCallRow> {
  using Row = MemoryCallRow;
  static constexpr const char* name = "memory_calls";
  static constexpr auto columns = std::tuple{
      column("message", &Row::message, "message that it was made for", Unit::message),
      column("process", &Row::process, "process that called", Unit::process),
      column("lane", &Row::lane, "recording thread of that process"),
      column("action", &Row::action, "what it does"),
      column("function", &Row::function, "function of UCP or UCT", Unit::text),
      column("memory_domain", &Row::memory_domain,
             "UCT memory domain, or component of an unpacked key", Unit::text),
      column("link", &Row::link, "how its message was found"),
      column("outermost", &Row::outermost, "1 = not made inside another such call"),
      column("repeats", &Row::repeats,
             "1 = made by a function that does the same by way of this one"),
      column("first_use", &Row::first_use,
             "1 = the domain had no part of this memory registered before"),
      column("status", &Row::status, "name of the UCS status", Unit::text),
      column("asked_by", &Row::asked_by, "MPI function that wanted the operation", Unit::text),
      column("call", &Row::call, "MPI call that it was made in", Unit::mpi_call),
      column("memory", &Row::memory, "memory that it is about"),
      column("gpu", &Row::gpu, "whose memory", Unit::gpu),
      column("address", &Row::address, "0 = the call does not say", Unit::address),
      column("bytes", &Row::bytes, "of that memory", Unit::bytes),
      column("key", &Row::key, "handle of the registration, or the unpacked key", Unit::address),
      column("t_start_ns", &Row::t_start_ns, "start of the call", Unit::ns),
      difference("t_end_ns_minus_t_start_ns", &Row::t_end_ns, &Row::t_start_ns, "end of the call",
                 Unit::ns),
      column("t_until_ns", &Row::t_until_ns, "of a registration: it was ended", Unit::ns),
  };
};

template <>
struct Table<RegistrationUse> {
  using Row = RegistrationUse;
  static constexpr const char* name = "registration_uses";
  static constexpr auto columns = std::tuple{
      column("process", &Row::process, "process", Unit::process),
      column("memory_domain", &Row::memory_domain, "UCT memory domain", Unit::text),
      column("operations", &Row::operations,
             "UCP operations that moved data without a copy in the domain"),
      column("registered", &Row::registered, "those that registered memory for it"),
      column("live", &Row::live, "registrations that nobody ended"),
      column("live_bytes", &Row::live_bytes, "of these", Unit::bytes),
  };
};

template <>
struct Table<RegistrationSum> {
  using Row = RegistrationSum;
  static constexpr const char* name = "registration_sums";
  static constexpr auto columns = std::tuple{
      column("memory_domain", &Row::memory_domain, "as of memory_calls", Unit::text),
      column("function", &Row::function, "function of UCP or UCT", Unit::text),
      column("memory", &Row::memory, "memory that the calls are about"),
      column("calls", &Row::calls, "how many"),
      column("failed", &Row::failed, "of them"),
      column("bytes", &Row::bytes, "of calls that succeeded and say which memory they are about",
             Unit::bytes),
      column("registrations", &Row::registrations,
             "registrations that succeeded, without those that repeat another"),
      column("first_uses", &Row::first_uses, "rows with first_use"),
      column("messages", &Row::messages, "that calls were made for"),
      column("ns", &Row::ns, "in the calls", Unit::ns),
      column("max_ns", &Row::max_ns, "the longest one", Unit::ns),
      column("own_ns", &Row::own_ns, "of ns: of outermost calls", Unit::ns),
      column("for_messages_ns", &Row::for_messages_ns,
             "of own_ns: of calls that were made for a message", Unit::ns),
  };
};

template <>
struct Table<KernelAccessRow> {
  using Row = KernelAccessRow;
  static constexpr const char* name = "kernel_accesses";
  static constexpr auto columns = std::tuple{
      column("process", &Row::process, "process", Unit::process),
      column("peer_process", &Row::peer_process, "at the other end of the endpoint", Unit::process),
      column("function", &Row::function, "of UCP or UCT, that gave it", Unit::text),
      column("transport", &Row::transport, "UCT transport of an endpoint", Unit::text),
      column("device", &Row::device, "its UCT device", Unit::text),
      column("memory", &Row::memory, "memory at local_address"),
      column("gpu", &Row::gpu, "whose memory", Unit::gpu),
      column("local_address", &Row::local_address, "0 = none", Unit::address),
      column("remote_address", &Row::remote_address, "0 = none", Unit::address),
      column("bytes", &Row::bytes, "of the memory", Unit::bytes),
      column("t_ns", &Row::t_ns, "it was given", Unit::ns),
      column("t_until_ns", &Row::t_until_ns, "it was released", Unit::ns),
  };
};

}  // namespace uctrace::store
