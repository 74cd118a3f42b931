#include "log-merger/page-data/page_details.hpp"

#include <functional>
#include <numeric>
#include <optional>
#include <string>

namespace uctrace {
namespace {

constexpr std::int64_t kCountedNowhere = -1;

// Time from a start to a later instant; -1 if that is not known. If the end is before the start, as
// clocks of two hosts can make it, the value is -2 - difference.
std::int64_t since(std::int64_t start, std::int64_t instant) {
  if (instant < 0) return -1;
  return instant >= start ? instant - start : -2 - (start - instant);
}

// The columns for rows of one kind.
template <typename Row>
class Columns {
 public:
  using Value = std::function<std::int64_t(const Row&, std::size_t)>;

  void add(const char* name, Value value, Coding coding = Coding::values) {
    columns_.push_back({name, coding, {}});
    values_.push_back(std::move(value));
  }

  // Numbers of 64 bits: a page cannot keep them exactly as one number.
  void add_wide(const std::string& name, std::function<std::uint64_t(const Row&)> value) {
    add((name + "_low").c_str(), [value](const Row& row, std::size_t) {
      return static_cast<std::int64_t>(value(row) & 0xffffffff);
    });
    add((name + "_high").c_str(), [value](const Row& row, std::size_t) {
      return static_cast<std::int64_t>(value(row) >> 32);
    });
  }

  void make_room(std::size_t rows) {
    for (PackedColumn& column : columns_) column.values.resize(rows);
  }
  void put(std::size_t place, const Row& row, std::size_t number) {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      columns_[c].values[place] = values_[c](row, number);
    }
  }
  PackedTable named(const char* name) && { return {name, std::move(columns_)}; }

  PackedTable make(const char* name, const DetailRows& rows) && {
    make_room(rows.count(table_of(Row())));
    rows.each(
        [this](const Row& row, std::size_t number, std::size_t place) { put(place, row, number); });
    return std::move(*this).named(name);
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
  DetailBuilder(const Run& run, const TrafficCells& cells, const DetailRows& rows)
      : run_(run), cells_(cells), rows_(rows) {}

  std::vector<PackedTable> build() const {
    std::vector<PackedTable> tables = {mpi_calls(), ucp_operations(), transfers()};
    add_messages(tables);
    return tables;
  }

 private:
  template <typename Row>
  void add_times(Columns<Row>& columns) const {
    columns.add(
        "start_ns", [](const Row& row, std::size_t) { return start_of(row); }, Coding::differences);
    columns.add("duration_ns",
                [](const Row& row, std::size_t) { return since(start_of(row), last_of(row)); });
  }

  // The memories at both ends, and whether the way leads over network cards.
  template <typename Row>
  static void add_way(Columns<Row>& columns) {
    UCTRACE_MEMBER(columns, network, "network");
    UCTRACE_MEMBER(columns, from_memory, "from_memory");
    UCTRACE_MEMBER(columns, from_gpu, "from_gpu");
    UCTRACE_MEMBER(columns, to_memory, "to_memory");
    UCTRACE_MEMBER(columns, to_gpu, "to_gpu");
  }

  // Where the program made the call, as text.
  template <typename Row>
  void add_site(Columns<Row>& columns, const char* name, std::int32_t Row::*stack) const {
    columns.add(name, [this, stack](const Row& row, std::size_t) {
      return static_cast<std::int64_t>(call_site_of(run_, row.*stack));
    });
  }

  std::int64_t cell_of(std::int64_t message) const {
    const auto cell = rows_.cell_of(message);
    return cell ? std::int64_t{*cell} : kCountedNowhere;
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
    add_site(columns, "site", &MpiCallRow::stack);
    return std::move(columns).make("mpi_calls", rows_);
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
    add_site(columns, "site", &UcpOperationRow::stack);
    return std::move(columns).make("ucp_operations", rows_);
  }

  PackedTable transfers() const {
    Columns<Transfer> columns;
    UCTRACE_MEMBER(columns, process, "process");
    add_times(columns);
    columns.add("posted_ns", [](const Transfer& row, std::size_t) {
      return since(row.t_start_ns, row.t_end_ns);
    });
    UCTRACE_MEMBER(columns, t_end_from, "end_from");
    columns.add("total", [this](const Transfer& row, std::size_t) {
      const auto total = cells_.find(row, rows_.cell_of(row.message));
      return total ? std::int64_t{*total} : kCountedNowhere;
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
    UCTRACE_MEMBER(columns, wire_bytes, "wire_bytes");
    UCTRACE_MEMBER(columns, payload_bytes, "bytes");
    columns.add_wide("local_address", [](const Transfer& row) { return row.local_address; });
    columns.add_wide("remote_address", [](const Transfer& row) { return row.remote_address; });
    UCTRACE_MEMBER(columns, progressed_in, "progressed_in");
    add_way(columns);
    return std::move(columns).make("transfers", rows_);
  }

  void add_messages(std::vector<PackedTable>& tables) const {
    Columns<Message> columns;
    columns.add(
        "id", [](const Message&, std::size_t i) { return static_cast<std::int64_t>(i); },
        Coding::differences);
    add_times(columns);
    columns.add("sent",
                [](const Message& row, std::size_t) { return row.t_start_ns >= 0 ? 1 : 0; });
    columns.add("receive_posted_ns", [](const Message& row, std::size_t) {
      return since(time_of(row), row.t_posted_recv_ns);
    });
    columns.add("cell", [this](const Message&, std::size_t i) {
      return cell_of(static_cast<std::int64_t>(i));
    });
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
    UCTRACE_MEMBER(columns, asked_library, "asked_library");
    UCTRACE_MEMBER(columns, asked_function, "asked_function");
    UCTRACE_MEMBER(columns, progressed_in, "progressed_in");
    UCTRACE_MEMBER(columns, protocol, "protocol");
    UCTRACE_MEMBER(columns, wait_ns, "wait_ns");
    UCTRACE_MEMBER(columns, hops, "hops");
    add_site(columns, "site", &Message::stack);
    add_site(columns, "recv_site", &Message::recv_stack);
    tables.push_back(std::move(columns).make("messages", rows_));
    tables.push_back(hops());
  }

  // The hops of the first message, then of the second one, and so on.
  PackedTable hops() const {
    std::vector<std::size_t> first_of(rows_.count(RowsOf::messages) + 1);  // hop of each
    rows_.each([&](const Message& message, std::size_t, std::size_t place) {
      first_of[place + 1] = message.hops;
    });
    std::partial_sum(first_of.begin(), first_of.end(), first_of.begin());
    std::int64_t sent_ns = 0;  // of the message whose hops are put
    Columns<Hop> columns = hop_columns(sent_ns);
    columns.make_room(first_of.back());
    rows_.each_path([&](const Message& message, std::span<const Hop> path, std::size_t place) {
      sent_ns = time_of(message);
      std::size_t at = first_of[place];
      for (const Hop& hop : path) columns.put(at++, hop, 0);
    });
    return std::move(columns).named("hops");
  }

  static Columns<Hop> hop_columns(const std::int64_t& sent_ns) {
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
    UCTRACE_MEMBER(columns, payload_bytes, "bytes");
    UCTRACE_MEMBER(columns, wire_bytes, "wire_bytes");
    columns.add("first_ns",
                [&](const Hop& hop, std::size_t) { return since(sent_ns, hop.t_first_ns); });
    columns.add("last_ns",
                [&](const Hop& hop, std::size_t) { return since(sent_ns, hop.t_last_ns); });
    UCTRACE_MEMBER(columns, t_last_from, "last_from");
    add_way(columns);
    return columns;
  }

  const Run& run_;
  const TrafficCells& cells_;
  const DetailRows& rows_;
};

#undef UCTRACE_MEMBER

}  // namespace

std::vector<PackedTable> make_details(const Run& run, const TrafficCells& cells,
                                      const DetailRows& rows) {
  return DetailBuilder(run, cells, rows).build();
}

}  // namespace uctrace
