// The tables of settings (docs/settings.md), of latencies (docs/findings.md), and of what UCX
// expects of them (docs/report.md).
#pragma once

#include <tuple>

#include "log-merger/model/model.hpp"
#include "log-merger/store/store_columns.hpp"

namespace uctrace::store {

template <>
struct Table<Setting> {
  static constexpr const char* name = "settings";
  static constexpr auto columns = std::tuple{
      column("from", &Setting::from,
             "where it stands; opened: an interface that UCX opened; offered: one that it could "
             "have opened; component: a part of UCT"),
      column("name", &Setting::name,
             "variable, or limit; of an interface its transport; of a component its name",
             Unit::text),
      column("value", &Setting::value,
             "of an interface its device; of a component how many memory domains it found",
             Unit::text),
      column("first_process", &Setting::first_process, "the first of the processes that have it",
             Unit::process),
      column("processes", &Setting::processes, "how many, one row after the other"),
  };
};

template <>
struct Table<LatencySum> {
  using Row = LatencySum;
  static constexpr const char* name = "latency_sums";
  static constexpr auto columns = std::tuple{
      column("kind", &Row::kind, "which UCP interface carried them"),
      column("protocol", &Row::protocol, "UCP protocol", Unit::text),
      column("reach", &Row::reach, "where their two ends are"),
      column("size", &Row::size, "bits of the length of each: below 2^size, 0 = empty"),
      column("first", &Row::first, "1 = the first message from its source to its destination"),
      column("timed", &Row::timed, "1 = their latencies are known"),
      column("latency_class", &Row::latency_class, "class of the latency of each"),
      column("messages", &Row::messages, "how many"),
      column("bytes", &Row::bytes, "their payload", Unit::bytes),
      column("ns", &Row::ns, "their latencies, added up", Unit::ns),
  };
};

template <>
struct Table<EstimateRow> {
  using Row = EstimateRow;
  static constexpr const char* name = "estimates";
  static constexpr auto columns = std::tuple{
      column("reach", &Row::reach, "where the two ends of these UCP endpoints are"),
      column("latency_ps", &Row::latency_ps,
             "picoseconds that UCX expects of a message without bytes"),
      column("per_second_bytes", &Row::per_second_bytes, "bytes a second that it expects beyond",
             Unit::bytes),
      column("endpoints", &Row::endpoints, "how many"),
  };
};

}  // namespace uctrace::store
