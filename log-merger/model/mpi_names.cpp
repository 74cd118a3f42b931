#include "log-merger/model/mpi_names.hpp"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <utility>

namespace uctrace {

namespace {

constexpr std::string_view kPointToPoint[] = {
    "send",  "bsend",    "ssend",  "rsend",        "psend",
    "recv",  "mrecv",    "precv",  "sendrecv",     "sendrecv_replace",
    "start", "startall", "pready", "pready_range", "pready_list"};
constexpr std::string_view kCollectives[] = {"allgather",
                                             "allgatherv",
                                             "allreduce",
                                             "alltoall",
                                             "alltoallv",
                                             "alltoallw",
                                             "barrier",
                                             "bcast",
                                             "exscan",
                                             "gather",
                                             "gatherv",
                                             "neighbor_allgather",
                                             "neighbor_allgatherv",
                                             "neighbor_alltoall",
                                             "neighbor_alltoallv",
                                             "neighbor_alltoallw",
                                             "reduce",
                                             "reduce_scatter",
                                             "reduce_scatter_block",
                                             "scan",
                                             "scatter",
                                             "scatterv"};
constexpr std::string_view kCompletions[] = {"probe", "mprobe", "cancel", "parrived"};
constexpr std::string_view kOneSided[] = {"put",
                                          "get",
                                          "accumulate",
                                          "rput",
                                          "rget",
                                          "raccumulate",
                                          "get_accumulate",
                                          "rget_accumulate",
                                          "fetch_and_op",
                                          "compare_and_swap"};

constexpr std::string_view kOnlyReceiving[] = {"recv", "mrecv", "precv", "get", "rget"};

template <std::size_t N>
bool is_in(std::string_view name, const std::string_view (&names)[N]) {
  return std::find(std::begin(names), std::end(names), name) != std::end(names);
}

bool starts_with_one_of(std::string_view name, std::initializer_list<std::string_view> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return name.starts_with(beginning); });
}

MpiKind kind_of_base(std::string_view base) {
  if (is_in(base, kPointToPoint)) return MpiKind::p2p;
  if (is_in(base, kCollectives)) return MpiKind::collective;
  if (is_in(base, kOneSided) || base.starts_with("win_")) return MpiKind::rma;
  if (base.starts_with("file_")) return MpiKind::io;
  if (is_in(base, kCompletions) ||
      starts_with_one_of(base, {"wait", "test", "request_", "grequest_", "buffer_"})) {
    return MpiKind::completion;
  }
  return MpiKind::management;
}

// These also have nonblocking forms.
bool has_forms(std::string_view base) {
  return is_in(base, kPointToPoint) || is_in(base, kCollectives) || base == "probe" ||
         base == "mprobe";
}

bool cut_end(std::string& name, std::string_view end) {
  if (!name.ends_with(end)) return false;
  name.resize(name.size() - end.size());
  return true;
}

}  // namespace

const char* name_of(MpiKind kind) {
  switch (kind) {
    case MpiKind::p2p:
      return "p2p";
    case MpiKind::completion:
      return "completion";
    case MpiKind::rma:
      return "rma";
    case MpiKind::collective:
      return "collective";
    case MpiKind::io:
      return "io";
    case MpiKind::management:
      return "management";
  }
  return "?";
}

MpiName parse_mpi_name(std::string_view function) {
  MpiName name;
  for (const std::string_view beginning : {"MPI_", "MPIX_"}) {
    if (function.starts_with(beginning)) {
      function.remove_prefix(beginning.size());
      break;
    }
  }
  name.base = function;
  if (!name.base.empty()) {
    name.base[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(name.base[0])));
  }
  cut_end(name.base, "_c");
  std::string begun = name.base;
  if (cut_end(begun, "_init") && has_forms(begun)) {
    name.persistent = true;
    name.base = begun;
  } else if (name.base.starts_with('i') && has_forms(name.base.substr(1))) {
    name.nonblocking = true;
    name.base.erase(0, 1);
  }
  name.kind = kind_of_base(name.base);
  name.only_receives = is_in(name.base, kOnlyReceiving) ||
                       starts_with_one_of(name.base, {"file_read", "file_iread"});
  return name;
}

MpiEdge edge_of_mpi(std::string_view function) {
  static constexpr std::pair<std::string_view, MpiEdge> kEdges[] = {
      {"MPI_Init", MpiEdge::init},
      {"MPI_Init_thread", MpiEdge::init},
      {"MPI_Finalize", MpiEdge::finalize},
      {"MPI_Session_init", MpiEdge::session_init},
      {"MPI_Session_finalize", MpiEdge::session_finalize}};
  const auto* const found = std::find_if(std::begin(kEdges), std::end(kEdges),
                                         [&](const auto& edge) { return edge.first == function; });
  return found == std::end(kEdges) ? MpiEdge::none : found->second;
}

void EdgesOfMpi::add(MpiEdge edge, std::int64_t call, std::int64_t start_ns) {
  if (edge == MpiEdge::init) init_ = call;
  if (edge == MpiEdge::finalize) finalize_ = call;
  if (start_ns < 0) return;
  if (edge == MpiEdge::session_init) {
    ++sessions_;
    if (start_ns < first_begin_ns_) first_session_ = call;
    first_begin_ns_ = std::min(first_begin_ns_, start_ns);
    last_begin_ns_ = std::max(last_begin_ns_, start_ns);
  } else if (edge == MpiEdge::session_finalize) {
    --sessions_;
    if (start_ns > last_end_ns_) last_session_ = call;
    first_end_ns_ = std::min(first_end_ns_, start_ns);
    last_end_ns_ = std::max(last_end_ns_, start_ns);
  }
}

std::int64_t EdgesOfMpi::start() const {
  if (init_ >= 0 || finalize_ >= 0) return init_;
  return sessions_ >= 0 && first_begin_ns_ <= first_end_ns_ ? first_session_ : -1;
}

std::int64_t EdgesOfMpi::end() const {
  if (init_ >= 0 || finalize_ >= 0) return finalize_;
  return sessions_ <= 0 && last_begin_ns_ <= last_end_ns_ ? last_session_ : -1;
}

bool needs_receiver(std::string_view protocol, std::string_view function) {
  const std::string base = parse_mpi_name(function).base;
  if (base == "bsend") return false;  // it is buffered
  return base == "ssend" || protocol.find("eager") == std::string_view::npos ||
         protocol.find("sync") != std::string_view::npos;
}

}  // namespace uctrace
