#include "log-merger/reports/comms.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>

#include "log-merger/model/mpi_names.hpp"
#include "log-merger/model/size_class.hpp"
#include "log-merger/reports/comms_choice.hpp"
#include "log-merger/reports/info_output.hpp"
#include "log-merger/reports/report.hpp"
#include "log-merger/summaries/call_parts.hpp"
#include "log-merger/summaries/callers.hpp"
#include "log-merger/summaries/filter.hpp"

namespace uctrace {

namespace {

// The value of each dimension as a number that orders it: a row, a text, a bucket, an interval.
using Key = std::vector<std::int64_t>;

struct Sum {
  std::uint64_t calls = 0;               // or transfers
  std::uint64_t sent = 0, received = 0;  // or payload, and bytes passed to UCT
  std::uint64_t time_ns = 0;
  std::uint64_t waiting_ns = 0, unknown_ns = 0;  // of it
  std::map<std::int32_t, std::uint64_t> ns_of_process;

  std::uint64_t weight(bool of_transfers) const { return of_transfers ? sent : time_ns; }
};

double percent(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
}

bool in_natural_order(CommsBy by) { return by == CommsBy::bucket || by == CommsBy::time; }

class Summing {
 public:
  Summing(const RowSource& source, const CommsFilter& filter, const CommsOptions& options)
      : source_(source),
        run_(source.run()),
        options_(options),
        choice_(source, filter),
        labels_(run_),
        of_transfers_(has(CommsBy::transport)) {
    of_transfers_ ? add_transfers() : add_calls();
  }

  Table table() const {
    Table table{.key = "comms",
                .title = of_transfers_ ? "Transfers of the messages that MPI calls asked for"
                                       : "MPI calls and their time",
                .columns = {},
                .rows = {}};
    for (const CommsBy by : options_.by) add_columns(by, table.columns);
    add_measures(table.columns);
    std::uint64_t whole = 0;
    for (const auto& [key, sum] : sums_) whole += sum.weight(of_transfers_);
    if (has(CommsBy::op)) whole -= start_and_end_ns_;  // in rows of their own
    for (const auto& [key, sum] : sorted()) {
      std::vector<Cell>& row = table.rows.emplace_back();
      std::size_t at = 0;
      for (const CommsBy by : options_.by) add_cells(by, *key, at, row);
      of_transfers_ ? add_transfer_cells(*sum, whole, row)
                    : add_call_cells(*sum, is_apart(*key) ? 0 : whole, row);
    }
    return table;
  }

  // Time of the selected calls in MPI_Init, MPI_Finalize and the like.
  std::uint64_t start_and_end_ns() const { return start_and_end_ns_; }

 private:
  // Whether a row is of these.
  bool is_apart(const Key& key) const {
    const auto op = std::find(options_.by.begin(), options_.by.end(), CommsBy::op);
    if (op == options_.by.end()) return false;
    const auto place = static_cast<std::size_t>(op - options_.by.begin());
    return starts_or_ends_mpi(run_.texts[static_cast<TextId>(key[place])]);
  }

  bool has(CommsBy by) const {
    return std::find(options_.by.begin(), options_.by.end(), by) != options_.by.end();
  }

  // --- sums

  bool can_ask_sums() const {
    const bool are_there = of_transfers_ ? run_.messages_are_summed : run_.calls_are_summed;
    return are_there && !choice_.asks_for_time() && !has(CommsBy::time) &&
           (!has(CommsBy::bucket) ||
            std::all_of(options_.buckets.begin(), options_.buckets.end(), is_between_classes));
  }

  void add_calls() {
    if (can_ask_sums()) {
      for_each_row(source_, Wanted<CallSum>::all(), [&](const CallSum& sum, std::size_t) {
        const CommsSubject subject{sum.part_communicator, sum.function,
                                   static_cast<std::int32_t>(sum.process), -1};
        add_part(subject, length_of(sum.size), sum.call_site,
                 {sum.calls,
                  sum.bytes,
                  sum.recv_bytes,
                  sum.part_ns,
                  sum.part_waiting_ns,
                  sum.part_unknown_ns,
                  {}});
      });
      return;
    }
    const Wanted<MpiCallRow> wanted{&MpiCallRow::bytes, &MpiCallRow::recv_bytes,
                                    &MpiCallRow::stack};
    CallParts(source_).for_each(wanted, [&](const CallPart& part) {
      const MpiCallRow& call = part.call;
      const CommsSubject subject{part.communicator, call.function,
                                 static_cast<std::int32_t>(call.process), call.t_start_ns};
      Sum of_part{0, 0, 0, part.ns, part.waiting_ns, part.unknown_ns, {}};
      if (part.counts) {
        of_part.calls = 1;
        of_part.sent = call.bytes;
        of_part.received = call.recv_bytes;
      }
      add_part(subject, std::max(call.bytes, call.recv_bytes), call_site_at(run_, call.stack),
               of_part);
    });
  }

  // `bytes`: of a call. Start and end of MPI have separate rows, or none unless requested by name.
  void add_part(const CommsSubject& subject, std::uint64_t bytes, std::int32_t call_site,
                const Sum& part) {
    if (!choice_.accepts(subject)) return;
    if (choice_.starts_or_ends_mpi(subject.function)) {
      start_and_end_ns_ += part.time_ns;
      if (!has(CommsBy::op) && !choice_.names_functions()) return;
    }
    Sum& sum = sums_[key_of(subject, bytes, call_site, {})];
    sum.calls += part.calls;
    sum.sent += part.sent;
    sum.received += part.received;
    sum.time_ns += part.time_ns;
    sum.waiting_ns += part.waiting_ns;
    sum.unknown_ns += part.unknown_ns;
    sum.ns_of_process[subject.process] += part.time_ns;
  }

  void add_transfers() {
    if (can_ask_sums()) {
      RowWindow<HopSum> hops(source_, Wanted<HopSum>::all());
      for_each_row(source_, Wanted<MessageSum>::all(), [&](const MessageSum& sum, std::size_t) {
        if (sum.caller < 0) return;
        const CommsSubject subject{sum.communicator, sum.mpi, sum.caller, -1};
        add_path(subject, length_of(sum.size), sum.call_site, hops.rows(sum.first_hop, sum.hops));
      });
      return;
    }
    using M = Message;
    const Callers callers(source_);
    const Wanted<M> wanted{&M::call,  &M::communicator, &M::mpi,
                           &M::bytes, &M::t_start_ns,   &M::stack};
    const Wanted<Hop> of_path{&Hop::transport, &Hop::device, &Hop::count, &Hop::payload_bytes,
                              &Hop::wire_bytes};
    for_each_message(
        source_, wanted, of_path, [&](const M& message, std::span<const Hop> path, std::size_t) {
          if (message.call < 0) return;
          const CommsSubject subject{message.communicator, message.mpi,
                                     callers.process_of(message.call), message.t_start_ns};
          add_path(subject, message.bytes, call_site_at(run_, message.stack), path);
        });
  }

  // `bytes`: of a message. `path`: hops, or their sums.
  template <typename Hops>
  void add_path(const CommsSubject& subject, std::uint64_t bytes, std::int32_t call_site,
                Hops path) {
    if (!choice_.accepts(subject)) return;
    for (const auto& hop : path) {
      Sum& sum = sums_[key_of(subject, bytes, call_site, Way{hop.transport, hop.device})];
      sum.calls += hop.count;
      sum.sent += hop.payload_bytes;
      sum.received += hop.wire_bytes;
    }
  }

  struct Way {
    TextId transport = kNoText, device = kNoText;
  };

  Key key_of(const CommsSubject& subject, std::uint64_t bytes, std::int32_t call_site,
             const Way& way) {
    Key key;
    for (const CommsBy by : options_.by) {
      switch (by) {
        case CommsBy::comm:
          key.push_back(subject.communicator);
          break;
        case CommsBy::op:
          key.push_back(subject.function);
          break;
        case CommsBy::kind:
          key.push_back(static_cast<std::int64_t>(choice_.kind_of(subject.function)));
          break;
        case CommsBy::rank:
          key.push_back(subject.process);
          break;
        case CommsBy::bucket:
          key.push_back(std::upper_bound(options_.buckets.begin(), options_.buckets.end(), bytes) -
                        options_.buckets.begin());
          break;
        case CommsBy::time:
          key.push_back(subject.start_ns < 0
                            ? -1
                            : subject.start_ns / static_cast<std::int64_t>(options_.interval_ns));
          break;
        case CommsBy::call_site:
          key.push_back(call_site);
          break;
        case CommsBy::transport:
          key.push_back(way.transport);
          key.push_back(way.device);
          break;
      }
    }
    return key;
  }

  // In natural order if there is one; else largest first, grouped by the first value.
  std::vector<std::pair<const Key*, const Sum*>> sorted() const {
    std::map<std::int64_t, std::uint64_t> of_first;
    const auto first = [](const Key& key) { return key.empty() ? 0 : key.front(); };
    std::vector<std::pair<const Key*, const Sum*>> rows;
    for (const auto& [key, sum] : sums_) {
      of_first[first(key)] += sum.weight(of_transfers_);
      rows.emplace_back(&key, &sum);
    }
    const bool first_natural = !options_.by.empty() && in_natural_order(options_.by.front());
    const bool any_natural = std::any_of(options_.by.begin(), options_.by.end(), in_natural_order);
    std::stable_sort(rows.begin(), rows.end(), [&](const auto& a, const auto& b) {
      const std::int64_t key_a = first(*a.first), key_b = first(*b.first);
      if (key_a != key_b) {
        const std::uint64_t weight_a = of_first.at(key_a), weight_b = of_first.at(key_b);
        return first_natural || weight_a == weight_b ? key_a < key_b : weight_a > weight_b;
      }
      return !any_natural && a.second->weight(of_transfers_) > b.second->weight(of_transfers_);
    });
    return rows;
  }

  // --- columns and cells

  static void add_columns(CommsBy by, std::vector<Column>& columns) {
    switch (by) {
      case CommsBy::comm:
        columns.insert(columns.end(), {{"comm", "communicator"},
                                       {"user_name", "called", Unit::text, true},
                                       {"size", "processes", Unit::count, true}});
        break;
      case CommsBy::op:
        columns.push_back({"op", "operation"});
        break;
      case CommsBy::kind:
        columns.push_back({"kind", "kind"});
        break;
      case CommsBy::rank:
        columns.push_back({"rank", "rank"});
        break;
      case CommsBy::bucket:
        columns.insert(columns.end(), {{"from_bytes", "from", Unit::bytes},
                                       {"below_bytes", "below", Unit::bytes}});
        break;
      case CommsBy::time:
        columns.push_back({"from_ns", "from", Unit::nanoseconds});
        break;
      case CommsBy::call_site:
        columns.push_back({"call_site", "call site"});
        break;
      case CommsBy::transport:
        columns.insert(columns.end(), {{"transport", "transport"}, {"device", "device"}});
        break;
    }
  }

  void add_measures(std::vector<Column>& columns) const {
    if (of_transfers_) {
      columns.insert(columns.end(), {{"transfers", "transfers", Unit::count},
                                     {"bytes", "payload", Unit::bytes},
                                     {"wire_bytes", "with headers", Unit::bytes},
                                     {"bytes_percent", "payload %", Unit::percent}});
      return;
    }
    columns.insert(columns.end(), {{"calls", "calls", Unit::count},
                                   {"sent_bytes", "sent", Unit::bytes},
                                   {"received_bytes", "received", Unit::bytes},
                                   {"time_ns", "time, all ranks", Unit::nanoseconds},
                                   {"time_percent", "of MPI %", Unit::percent, true},
                                   {"waiting_ns", "of it waiting", Unit::nanoseconds},
                                   {"unknown_ns", "not known", Unit::nanoseconds, true}});
    if (has(CommsBy::rank)) return;  // each row is of one
    columns.insert(columns.end(), {{"mean_ns", "mean of ranks", Unit::nanoseconds, true},
                                   {"min_ns", "least", Unit::nanoseconds, true},
                                   {"min_rank", "by rank", Unit::text, true},
                                   {"max_ns", "most", Unit::nanoseconds},
                                   {"max_rank", "by rank"}});
  }

  Cell text(TextId id) const { return id == kNoText ? Cell{} : Cell{run_.texts[id]}; }

  void add_cells(CommsBy by, const Key& key, std::size_t& at, std::vector<Cell>& row) const {
    const std::int64_t value = key[at++];
    const auto index = static_cast<std::size_t>(value);
    switch (by) {
      case CommsBy::comm:
        return add_communicator(value, row);
      case CommsBy::op:
        row.push_back(text(static_cast<TextId>(value)));
        return;
      case CommsBy::kind:
        row.emplace_back(name_of(static_cast<MpiKind>(value)));
        return;
      case CommsBy::rank:
        row.emplace_back(labels_.of_processes()[index]);
        return;
      case CommsBy::bucket:
        row.emplace_back(value == 0 ? std::uint64_t{0} : options_.buckets[index - 1]);
        row.push_back(index == options_.buckets.size() ? Cell{} : Cell{options_.buckets[index]});
        return;
      case CommsBy::time:
        row.push_back(value < 0 ? Cell{}
                                : Cell{static_cast<std::uint64_t>(value) * options_.interval_ns});
        return;
      case CommsBy::call_site:
        row.push_back(value < 0 ? Cell{} : text(run_.call_sites[index].label));
        return;
      case CommsBy::transport:
        row.push_back(text(static_cast<TextId>(value)));
        row.push_back(text(static_cast<TextId>(key[at++])));
        return;
    }
  }

  void add_communicator(std::int64_t index, std::vector<Cell>& row) const {
    if (index < 0) {
      row.insert(row.end(), 3, Cell{});
      return;
    }
    const Communicator& comm = run_.communicators[static_cast<std::size_t>(index)];
    row.push_back(text(comm.name));
    row.push_back(text(comm.user_name));
    row.emplace_back(std::uint64_t{comm.size} + comm.remote_size);
  }

  static void add_transfer_cells(const Sum& sum, std::uint64_t whole, std::vector<Cell>& row) {
    row.insert(row.end(), {sum.calls, sum.sent, sum.received, percent(sum.sent, whole)});
  }

  // `whole`: the total for percentages; 0 = none.
  void add_call_cells(const Sum& sum, std::uint64_t whole, std::vector<Cell>& row) const {
    row.insert(row.end(), {sum.calls, sum.sent, sum.received, sum.time_ns,
                           whole == 0 ? Cell{} : Cell{percent(sum.time_ns, whole)}, sum.waiting_ns,
                           sum.unknown_ns});
    if (has(CommsBy::rank)) return;
    const auto shorter = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto [least, most] =
        std::minmax_element(sum.ns_of_process.begin(), sum.ns_of_process.end(), shorter);
    const auto label = [&](std::int32_t process) {
      return labels_.of_processes()[static_cast<std::size_t>(process)];
    };
    row.insert(row.end(), {sum.time_ns / sum.ns_of_process.size(), least->second,
                           label(least->first), most->second, label(most->first)});
  }

  const RowSource& source_;
  const Run& run_;
  const CommsOptions& options_;
  CommsChoice choice_;
  const Labels labels_;
  const bool of_transfers_;
  std::map<Key, Sum> sums_;
  std::uint64_t start_and_end_ns_ = 0;
};

struct Comms {
  Table table;
  std::uint64_t start_and_end_ns;  // apart from the time of other rows, or of all rows
};

Comms comms_of(const RowSource& source, const CommsFilter& filter, const CommsOptions& options) {
  const Summing summing(source, filter, options);
  Comms comms{summing.table(), summing.start_and_end_ns()};
  if (options.limit) comms.table.keep_first(*options.limit);
  return comms;
}

}  // namespace

Table comms_table(const RowSource& source, const CommsFilter& filter, const CommsOptions& options) {
  return comms_of(source, filter, options).table;
}

void write_comms(std::ostream& out, const RowSource& source, const CommsFilter& filter,
                 const CommsOptions& options) {
  const auto [table, start_and_end_ns] = comms_of(source, filter, options);
  switch (options.format) {
    case Format::table:
      write_run_line(out, source.run());
      out << '\n';
      write_text(out, table, options.colour, options.width);
      if (start_and_end_ns != 0) {
        out << fmt::format("\n# apart: {} in MPI_Init and MPI_Finalize",
                           format_duration(start_and_end_ns));
      }
      out << "\n# " << identities_line(source.run()) << '\n';
      write_recording_note(out, source.run());
      return;
    case Format::json:
      out << dump({{"schema", kInfoSchema},
                   {"run", source.run().run_id},
                   {"start_and_end_ns", start_and_end_ns},
                   {"comms", to_json(table)}},
                  2)
          << '\n';
      return;
    case Format::csv:
      return write_csv(out, table);
    case Format::ndjson:
      return write_ndjson(out, table, false);
  }
}

}  // namespace uctrace
