// The table of UCT endpoints (docs/connections.md).
#pragma once

#include <tuple>

#include "log-merger/model/connection_rows.hpp"
#include "log-merger/store/store_columns.hpp"

namespace uctrace::store {

template <>
struct Table<ConnectionRow> {
  using Row = ConnectionRow;
  static constexpr const char* name = "connections";
  static constexpr auto columns = std::tuple{
      column("first_message", &Row::first_message, "that it carried a part of, or control of",
             Unit::message),
      column("process", &Row::process, "process whose endpoint it is", Unit::process),
      column("peer_process", &Row::peer_process, "process at the other end", Unit::process),
      column("made_by", &Row::made_by, "what made it"),
      column("network", &Row::network, "1 = its device is a network card"),
      column("transport", &Row::transport, "UCT transport", Unit::text),
      column("device", &Row::device, "UCT device", Unit::text),
      column("remote_device", &Row::remote_device, "device at the other end", Unit::text),
      column("carried", &Row::carried, "UCT operations that moved payload over it", Unit::text),
      column("ucp_endpoint", &Row::ucp_endpoint, "UCP endpoint that it was made with, 0 = none",
             Unit::address),
      column("creation_ns", &Row::creation_ns, "that the creation of this one took", Unit::ns),
      column("waited_ns", &Row::waited_ns,
             "of first_message: from its start until the connection was there", Unit::ns),
      column("operations", &Row::operations, "UCT operations that were posted on it"),
      column("message_operations", &Row::message_operations, "those that served messages"),
      column("wireup_operations", &Row::wireup_operations, "those by which UCP connected"),
      column("payload_bytes", &Row::payload_bytes, "that it carried", Unit::bytes),
      column("t_created_ns", &Row::t_created_ns, "it was made", Unit::ns),
      column("t_connected_ns", &Row::t_connected_ns, "the other end's address was given to it",
             Unit::ns),
      column("t_first_use_ns", &Row::t_first_use_ns, "an operation of a message was posted on it",
             Unit::ns),
      column("t_closed_ns", &Row::t_closed_ns, "it was destroyed", Unit::ns),
  };
};

}  // namespace uctrace::store
