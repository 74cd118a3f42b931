#include "log-merger/page-data/page_details.hpp"

#include <algorithm>
#include <functional>
#include <span>

#include "log-merger/page-data/page_timeline.hpp"
#include "log-merger/summaries/filter.hpp"

namespace uctrace {
namespace {

std::int64_t start_of(const MpiCallRow& call) { return call.t_start_ns; }
std::int64_t start_of(const UcpOperationRow& row) { return row.t_start_ns; }
std::int64_t start_of(const Transfer& transfer) { return transfer.t_start_ns; }
std::int64_t start_of(const Message& message) { return time_of(message); }

std::int64_t last_of(const MpiCallRow& call) { return call.t_end_ns; }
std::int64_t last_of(const UcpOperationRow& row) { return row.t_end_ns; }
std::int64_t last_of(const Transfer& transfer) { return end_of(transfer); }
std::int64_t last_of(const Message& message) { return message.t_end_ns; }

std::int64_t number(std::size_t value) {
  return value == PageCells::kNowhere ? -1 : static_cast<std::int64_t>(value);
}

// From a start to a later instant; -1 if that is not known. An end before the start, as clocks of
// two hosts can make it, is told as -2 - difference.
std::int64_t since(std::int64_t start, std::int64_t instant) {
  if (instant < 0) return -1;
  return instant >= start ? instant - start : -2 - (start - instant);
}

// The rows of one kind in the span, and what is said of each.
template <typename Row>
class Columns {
 public:
  using Value = std::function<std::int64_t(const Row&, std::size_t)>;

  void add(const char* name, Value value, Coding coding = Coding::values) {
    columns_.push_back({name, coding, {}});
    values_.push_back(std::move(value));
  }

  // Numbers of 64 bits, which a page cannot keep exactly as one number.
  void add_wide(const std::string& name, std::function<std::uint64_t(const Row&)> value) {
    add((name + "_low").c_str(), [value](const Row& row, std::size_t) {
      return static_cast<std::int64_t>(value(row) & 0xffffffff);
    });
    add((name + "_high").c_str(), [value](const Row& row, std::size_t) {
      return static_cast<std::int64_t>(value(row) >> 32);
    });
  }

  PackedTable make(const char* name, const std::vector<Row>& rows,
                   const std::vector<std::size_t>& chosen) && {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      columns_[c].values.reserve(chosen.size());
      for (const std::size_t i : chosen) columns_[c].values.push_back(values_[c](rows[i], i));
    }
    return {name, std::move(columns_)};
  }

 private:
  std::vector<PackedColumn> columns_;
  std::vector<Value> values_;
};

// A column that is a member of the row.
#define UCTRACE_MEMBER(columns, member, name) \
  columns.add(name,                           \
              [](const auto& row, std::size_t) { return static_cast<std::int64_t>(row.member); })

class DetailBuilder {
 public:
  DetailBuilder(const Run& run, const PageCells& cells, std::int64_t from_ns, std::int64_t to_ns)
      : run_(run), cells_(cells), from_ns_(from_ns), to_ns_(to_ns) {}

  Details build(std::uint64_t limit) {
    std::vector<std::int64_t> starts;
    note(run_.mpi_calls, starts);
    note(run_.ucp_operations, starts);
    note(run_.transfers, starts);
    note(run_.messages, starts);
    Details details{.events = starts.size(), .embedded = 0, .to_ns = to_ns_, .tables = {}};
    if (starts.size() > limit) {
      const auto cut = starts.begin() + static_cast<std::ptrdiff_t>(limit);
      std::nth_element(starts.begin(), cut, starts.end());
      details.to_ns = *cut;
    }
    cut_ns_ = details.to_ns;
    details.tables = {mpi_calls(), ucp_operations(), transfers()};
    add_messages(details.tables);
    for (const PackedTable& table : details.tables) {
      if (table.name != "hops") details.embedded += table.columns.front().values.size();
    }
    return details;
  }

 private:
  template <typename Row>
  bool overlaps(const Row& row, std::int64_t until) const {
    const std::int64_t start = start_of(row);
    return start >= 0 && start < until && end_or(last_of(row), to_ns_) >= from_ns_;
  }

  template <typename Row>
  void note(const std::vector<Row>& rows, std::vector<std::int64_t>& starts) const {
    for (const Row& row : rows) {
      if (overlaps(row, to_ns_)) starts.push_back(start_of(row));
    }
  }

  // By process, then start: what the page searches by.
  template <typename Row>
  std::vector<std::size_t> choose(const std::vector<Row>& rows) const {
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      if (overlaps(rows[i], cut_ns_)) chosen.push_back(i);
    }
    if constexpr (requires(const Row& row) { row.process; }) {
      std::stable_sort(chosen.begin(), chosen.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(rows[a].process, start_of(rows[a])) <
               std::pair(rows[b].process, start_of(rows[b]));
      });
    } else {
      std::stable_sort(chosen.begin(), chosen.end(), [&](std::size_t a, std::size_t b) {
        return start_of(rows[a]) < start_of(rows[b]);
      });
    }
    return chosen;
  }

  template <typename Row>
  void add_times(Columns<Row>& columns) const {
    columns.add(
        "start_ns", [](const Row& row, std::size_t) { return start_of(row); }, Coding::differences);
    columns.add("duration_ns",
                [](const Row& row, std::size_t) { return since(start_of(row), last_of(row)); });
  }

  // From which memory to which, and whether over network cards.
  template <typename Row>
  static void add_way(Columns<Row>& columns) {
    UCTRACE_MEMBER(columns, network, "network");
    UCTRACE_MEMBER(columns, from_memory, "from_memory");
    UCTRACE_MEMBER(columns, from_gpu, "from_gpu");
    UCTRACE_MEMBER(columns, to_memory, "to_memory");
    UCTRACE_MEMBER(columns, to_gpu, "to_gpu");
  }

  std::int64_t cell_of(std::int64_t message) const {
    return message < 0 ? -1 : number(cells_.cell_of_message(static_cast<std::size_t>(message)));
  }

  PackedTable mpi_calls() const {
    Columns<MpiCallRow> columns;
    UCTRACE_MEMBER(columns, process, "process");
    add_times(columns);
    UCTRACE_MEMBER(columns, lane, "thread");
    UCTRACE_MEMBER(columns, function, "function");
    UCTRACE_MEMBER(columns, comm, "comm");
    UCTRACE_MEMBER(columns, peer, "peer");
    UCTRACE_MEMBER(columns, tag, "tag");
    UCTRACE_MEMBER(columns, bytes, "bytes");
    UCTRACE_MEMBER(columns, recv_peer, "recv_peer");
    UCTRACE_MEMBER(columns, recv_tag, "recv_tag");
    UCTRACE_MEMBER(columns, recv_bytes, "recv_bytes");
    UCTRACE_MEMBER(columns, status, "status");
    return std::move(columns).make("mpi_calls", run_.mpi_calls, choose(run_.mpi_calls));
  }

  PackedTable ucp_operations() const {
    using Row = UcpOperationRow;
    Columns<Row> columns;
    UCTRACE_MEMBER(columns, process, "process");
    add_times(columns);
    columns.add("cell", [this](const Row& row, std::size_t) { return cell_of(row.message); });
    UCTRACE_MEMBER(columns, peer_process, "peer");
    columns.add(
        "message", [](const Row& row, std::size_t) { return row.message; }, Coding::differences);
    UCTRACE_MEMBER(columns, t_start_from, "start_from");
    UCTRACE_MEMBER(columns, t_end_from, "end_from");
    UCTRACE_MEMBER(columns, function, "function");
    UCTRACE_MEMBER(columns, protocol, "protocol");
    UCTRACE_MEMBER(columns, asked_by, "asked_by");
    UCTRACE_MEMBER(columns, progressed_in, "progressed_in");
    UCTRACE_MEMBER(columns, status, "status");
    UCTRACE_MEMBER(columns, bytes, "bytes");
    UCTRACE_MEMBER(columns, received_bytes, "received_bytes");
    columns.add_wide("tag", [](const Row& row) { return row.tag; });
    columns.add_wide("tag_mask", [](const Row& row) { return row.tag_mask; });
    columns.add_wide("sender_tag", [](const Row& row) { return row.sender_tag; });
    columns.add_wide("buffer", [](const Row& row) { return row.buffer; });
    columns.add_wide("endpoint", [](const Row& row) { return row.endpoint; });
    columns.add_wide("worker", [](const Row& row) { return row.worker_uid; });
    UCTRACE_MEMBER(columns, memory, "memory");
    UCTRACE_MEMBER(columns, gpu, "gpu");
    UCTRACE_MEMBER(columns, believed, "believed");
    return std::move(columns).make("ucp_operations", run_.ucp_operations,
                                   choose(run_.ucp_operations));
  }

  PackedTable transfers() const {
    Columns<Transfer> columns;
    UCTRACE_MEMBER(columns, process, "process");
    add_times(columns);
    columns.add("posted_ns", [](const Transfer& row, std::size_t) {
      return since(row.t_start_ns, row.t_end_ns);
    });
    UCTRACE_MEMBER(columns, t_end_from, "end_from");
    columns.add("total", [this](const Transfer& row, std::size_t i) {
      return number(cells_.total_of_transfer(row, i));
    });
    UCTRACE_MEMBER(columns, peer_process, "peer");
    columns.add(
        "message", [](const Transfer& row, std::size_t) { return row.message; },
        Coding::differences);
    UCTRACE_MEMBER(columns, transport, "transport");
    UCTRACE_MEMBER(columns, device, "device");
    UCTRACE_MEMBER(columns, memory_domain, "memory_domain");
    UCTRACE_MEMBER(columns, op, "op");
    UCTRACE_MEMBER(columns, reason, "reason");
    UCTRACE_MEMBER(columns, link, "link");
    UCTRACE_MEMBER(columns, role, "role");
    UCTRACE_MEMBER(columns, am_id, "am_id");
    UCTRACE_MEMBER(columns, status, "status");
    UCTRACE_MEMBER(columns, bytes, "wire_bytes");
    UCTRACE_MEMBER(columns, payload, "bytes");
    columns.add_wide("local_address", [](const Transfer& row) { return row.local_address; });
    columns.add_wide("remote_address", [](const Transfer& row) { return row.remote_address; });
    UCTRACE_MEMBER(columns, progressed_in, "progressed_in");
    add_way(columns);
    return std::move(columns).make("transfers", run_.transfers, choose(run_.transfers));
  }

  void add_messages(std::vector<PackedTable>& tables) const {
    const std::vector<std::size_t> chosen = choose(run_.messages);
    Columns<Message> columns;
    columns.add(
        "id", [](const Message&, std::size_t i) { return number(i); }, Coding::differences);
    add_times(columns);
    columns.add("sent",
                [](const Message& row, std::size_t) { return row.t_start_ns >= 0 ? 1 : 0; });
    columns.add("receive_posted_ns", [](const Message& row, std::size_t) {
      return since(time_of(row), row.t_posted_recv_ns);
    });
    columns.add("cell", [this](const Message&, std::size_t i) { return cell_of(number(i)); });
    UCTRACE_MEMBER(columns, src_process, "src_process");
    UCTRACE_MEMBER(columns, dst_process, "dst_process");
    UCTRACE_MEMBER(columns, src, "src");
    UCTRACE_MEMBER(columns, dst, "dst");
    UCTRACE_MEMBER(columns, t_start_from, "start_from");
    UCTRACE_MEMBER(columns, t_end_from, "end_from");
    UCTRACE_MEMBER(columns, t_error_ns, "error_ns");
    UCTRACE_MEMBER(columns, kind, "kind");
    UCTRACE_MEMBER(columns, match, "match");
    UCTRACE_MEMBER(columns, initiator, "initiator");
    UCTRACE_MEMBER(columns, protocol_from, "protocol_from");
    UCTRACE_MEMBER(columns, src_memory, "src_memory");
    UCTRACE_MEMBER(columns, dst_memory, "dst_memory");
    UCTRACE_MEMBER(columns, src_gpu, "src_gpu");
    UCTRACE_MEMBER(columns, dst_gpu, "dst_gpu");
    UCTRACE_MEMBER(columns, bytes, "bytes");
    UCTRACE_MEMBER(columns, has_tag, "has_tag");
    UCTRACE_MEMBER(columns, tag, "tag");
    columns.add_wide("ucp_tag", [](const Message& row) { return row.ucp_tag; });
    UCTRACE_MEMBER(columns, status, "status");
    UCTRACE_MEMBER(columns, comm, "comm");
    UCTRACE_MEMBER(columns, mpi, "mpi");
    UCTRACE_MEMBER(columns, mpi_recv, "mpi_recv");
    UCTRACE_MEMBER(columns, progressed_in, "progressed_in");
    UCTRACE_MEMBER(columns, protocol, "protocol");
    UCTRACE_MEMBER(columns, hops, "hops");
    tables.push_back(std::move(columns).make("messages", run_.messages, chosen));
    tables.push_back(hops_of(chosen));
  }

  // Those of the first message, of the second one, and so on.
  PackedTable hops_of(const std::vector<std::size_t>& messages) const {
    std::vector<std::size_t> chosen;
    for (const std::size_t i : messages) {
      for (std::uint32_t k = 0; k < run_.messages[i].hops; ++k) {
        chosen.push_back(run_.messages[i].first_hop + k);
      }
    }
    const auto sent = [this](const Hop& hop) { return time_of(run_.messages[hop.message]); };
    Columns<Hop> columns;
    UCTRACE_MEMBER(columns, hop, "hop");
    UCTRACE_MEMBER(columns, issued_by, "issued_by");
    UCTRACE_MEMBER(columns, role, "role");
    UCTRACE_MEMBER(columns, exact, "exact");
    UCTRACE_MEMBER(columns, transport, "transport");
    UCTRACE_MEMBER(columns, device, "device");
    UCTRACE_MEMBER(columns, remote_device, "remote_device");
    UCTRACE_MEMBER(columns, op, "op");
    UCTRACE_MEMBER(columns, count, "count");
    UCTRACE_MEMBER(columns, bytes, "bytes");
    UCTRACE_MEMBER(columns, wire_bytes, "wire_bytes");
    columns.add("first_ns",
                [sent](const Hop& hop, std::size_t) { return since(sent(hop), hop.t_first_ns); });
    columns.add("last_ns",
                [sent](const Hop& hop, std::size_t) { return since(sent(hop), hop.t_last_ns); });
    UCTRACE_MEMBER(columns, t_last_from, "last_from");
    add_way(columns);
    return std::move(columns).make("hops", run_.hops, chosen);
  }

  const Run& run_;
  const PageCells& cells_;
  const std::int64_t from_ns_, to_ns_;
  std::int64_t cut_ns_ = 0;
};

#undef UCTRACE_MEMBER

}  // namespace

Details make_details(const Run& run, const PageCells& cells, std::int64_t from_ns,
                     std::int64_t to_ns, std::uint64_t limit) {
  return DetailBuilder(run, cells, from_ns, to_ns).build(limit);
}

}  // namespace uctrace
