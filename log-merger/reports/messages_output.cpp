#include "log-merger/reports/messages_output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

#include "log-merger/reports/info_output.hpp"
#include "log-merger/summaries/memory_output.hpp"

namespace uctrace {
namespace {

using nlohmann::ordered_json;

ordered_json text_json(const Run& run, TextId id) {
  return id == kNoText ? ordered_json(nullptr) : ordered_json(run.texts[id]);
}

// -1 is the model's "not known" for ranks and times.
template <typename Number>
ordered_json known_json(Number number) {
  return number < 0 ? ordered_json(nullptr) : ordered_json(number);
}

ordered_json from_json(std::int64_t ns, TimeFrom from) {
  return ns < 0 ? ordered_json(nullptr) : ordered_json(name_of(from));
}

ordered_json process_json(const Run& run, std::int32_t process) {
  if (process < 0) return nullptr;
  return run.texts[run.processes[static_cast<std::size_t>(process)].key];
}

ordered_json communicator_json(const Run& run, std::int32_t communicator) {
  if (communicator < 0) return nullptr;
  return run.texts[run.communicators[static_cast<std::size_t>(communicator)].name];
}

// The call of a library above UCX other than MPI that asked; null: none did.
ordered_json library_call_json(const Run& run, const Message& message) {
  if (message.asked_function == kNoText) return nullptr;
  return {{"library", run.texts[message.asked_library]},
          {"function", run.texts[message.asked_function]},
          {"collective", text_json(run, message.asked_collective)},
          {"algorithm", text_json(run, message.asked_algorithm)},
          {"layers", text_json(run, message.asked_layers)},
          {"link", name_of(message.asked_inferred ? Link::inferred : Link::exact)}};
}

// Null if nothing moves.
ordered_json end_json(const Run& run, const Hop& hop, MemoryPlace place) {
  const bool moves = hop.role != Role::control || place.kind != MemoryKind::unknown;
  return moves ? memory_json(run, place) : ordered_json(nullptr);
}

ordered_json hop_json(const Run& run, const Hop& hop) {
  return {{"hop", hop.hop},
          {"transport", text_json(run, hop.transport)},
          {"device", text_json(run, hop.device)},
          {"remote_device", text_json(run, hop.remote_device)},
          {"op", text_json(run, hop.op)},
          {"issued_by", name_of(hop.issued_by)},
          {"role", name_of(hop.role)},
          {"from", end_json(run, hop, hop.from())},
          {"to", end_json(run, hop, hop.to())},
          {"count", hop.count},
          {"bytes", hop.payload_bytes},
          {"wire_bytes", hop.wire_bytes},
          {"t_first_ns", known_json(hop.t_first_ns)},
          {"t_last_ns", known_json(hop.t_last_ns)},
          {"t_last_from", from_json(hop.t_last_ns, hop.t_last_from)},
          {"exact", hop.exact}};
}

std::string csv_of(const ordered_json& value) {
  if (value.is_null()) return "";
  return value.is_string() ? csv_field(value.get<std::string>()) : dump(value);
}

// "am_bcopy posix/memory x8; ...": the path in one field.
std::string path_field(const ordered_json& path) {
  std::vector<std::string> hops;
  for (const ordered_json& hop : path) {
    hops.push_back(fmt::format(
        "{} {}/{} x{}", hop["op"].is_null() ? "" : hop["op"].get<std::string>(),
        hop["transport"].is_null() ? "" : hop["transport"].get<std::string>(),
        hop["device"].is_null() ? "" : hop["device"].get<std::string>(), dump(hop["count"])));
  }
  return fmt::format("{}", fmt::join(hops, "; "));
}

// The keys of the JSON form; memory and the path are one field each.
ordered_json flat(const Run& run, const MessageWithPath& told) {
  ordered_json message = message_json(run, told);
  message["src_memory"] = memory_field(run, told.message.src_place());
  message["dst_memory"] = memory_field(run, told.message.dst_place());
  message["path"] = path_field(message["path"]);
  return message;
}

void write_csv_line(std::ostream& out, const ordered_json& message) {
  const char* separator = "";
  for (const auto& [key, value] : message.items()) {
    out << separator << csv_of(value);
    separator = ",";
  }
  out << '\n';
}

void write_csv_header(std::ostream& out) {
  const Message nothing;  // has every key
  const char* separator = "";
  const ordered_json message = message_json(Run{}, {0, nothing, {}});
  for (const auto& [key, value] : message.items()) {
    out << separator << key;
    separator = ",";
  }
  out << '\n';
}

// The rows of a table about a message: a range, because the table is sorted by message.
template <typename Row>
class RowsOfMessages {
 public:
  RowsOfMessages(const RowSource& source, std::int64_t Row::*message)
      : message_(message),
        count_(source.count<Row>()),
        messages_(source, Wanted<Row>{message}),
        rows_(source, Wanted<Row>::all()) {}

  // Valid until the next call.
  std::span<const Row> operator()(MessageId message) {
    const auto id = static_cast<std::int64_t>(message);
    const std::size_t first = first_not_before(id), end = first_not_before(id + 1);
    return rows_.rows(first, end - first);
  }

 private:
  std::size_t first_not_before(std::int64_t message) {
    std::size_t first = 0, end = count_;
    while (first < end) {
      const std::size_t middle = first + (end - first) / 2;
      if (messages_.row(middle).*message_ < message) {
        first = middle + 1;
      } else {
        end = middle;
      }
    }
    return first;
  }

  std::int64_t Row::*message_;
  std::size_t count_;
  RowWindow<Row> messages_, rows_;
};

// The requested messages with their paths, in output order. Selecting reads only what the filter
// needs.
class Selection {
 public:
  Selection(const RowSource& source, const Filter& filter,
            const std::optional<std::vector<MessageId>>& ids)
      : source_(source),
        filter_(filter),
        ids_(ids),
        messages_(source, Wanted<Message>::all()),
        paths_(source, Wanted<Hop>::all()) {}

  // Calls visit(told) for the first `limit` of them, and returns how many there are. If the number
  // is not wanted, it stops at the limit.
  template <typename Visit>
  std::size_t tell(std::size_t limit, bool count_all, Visit visit) {
    std::size_t selected = 0;
    const auto take = [&](MessageId id) {
      if (++selected <= limit) {
        const Message& message = messages_.row(id);
        visit(MessageWithPath{id, message, paths_(message)});
      }
      return count_all || selected < limit;
    };
    if (limit == 0 && !count_all) return 0;
    ids_ ? among_named(take) : among_all(take, limit, selected);
    return selected;
  }

 private:
  template <typename Take>
  void among_named(Take take) {
    for (const MessageId id : *ids_) {
      const Message& message = messages_.row(id);
      if (filter_.selects(message, paths_(message)) && !take(id)) return;
    }
  }

  template <typename Take>
  void among_all(Take take, std::size_t limit, std::size_t& selected) {
    if (filter_.takes_all()) {
      const std::size_t count = source_.count<Message>();
      for (MessageId id = 0; id < std::min(count, limit); ++id) take(id);
      selected = count;
      return;
    }
    for_each_message(source_, filter_.of_messages(), filter_.of_paths(),
                     [&](const Message& message, std::span<const Hop> path, MessageId id) {
                       return !filter_.selects(message, path) || take(id);
                     });
  }

  const RowSource& source_;
  const Filter& filter_;
  const std::optional<std::vector<MessageId>>& ids_;
  RowWindow<Message> messages_;
  Paths paths_;
};

// The sort key of messages; an unknown duration counts as the shortest.
std::int64_t key_of(const Message& message, MessageOrder order) {
  switch (order) {
    case MessageOrder::time:
      break;
    case MessageOrder::wait:
      return message.wait_ns;
    case MessageOrder::duration:
      return message.t_start_ns < 0 || message.t_end_ns < 0 ? -1
                                                            : message.t_end_ns - message.t_start_ns;
    case MessageOrder::bytes:
      return static_cast<std::int64_t>(message.bytes);
  }
  return 0;
}

}  // namespace

ordered_json message_json(const Run& run, const MessageWithPath& told) {
  const Message& message = told.message;
  ordered_json path = ordered_json::array();
  for (const Hop& hop : told.path) path.push_back(hop_json(run, hop));
  const bool has_protocol = message.protocol_from != ProtocolFrom::none;
  const bool is_tagged = message.kind == MessageKind::tag;
  return {{"id", told.id},
          {"kind", name_of(message.kind)},
          {"status", text_json(run, message.status)},
          {"match", name_of(message.match)},
          {"src", known_json(message.src)},
          {"dst", known_json(message.dst)},
          {"initiator", name_of(message.initiator)},
          {"src_process", process_json(run, message.src_process)},
          {"dst_process", process_json(run, message.dst_process)},
          {"bytes", message.bytes},
          {"tag", message.has_tag ? ordered_json(message.tag) : ordered_json(nullptr)},
          {"ucp_tag",
           is_tagged ? ordered_json(fmt::format("{:#x}", message.ucp_tag)) : ordered_json(nullptr)},
          {"comm", text_json(run, message.comm)},
          {"comm_id", communicator_json(run, message.communicator)},
          {"mpi", text_json(run, message.mpi)},
          {"mpi_recv", text_json(run, message.mpi_recv)},
          {"library_call", library_call_json(run, message)},
          {"call_site", text_json(run, call_site_of(run, message.stack))},
          {"recv_call_site", text_json(run, call_site_of(run, message.recv_stack))},
          {"protocol", text_json(run, message.protocol)},
          {"protocol_from",
           has_protocol ? ordered_json(name_of(message.protocol_from)) : ordered_json(nullptr)},
          {"t_start_ns", known_json(message.t_start_ns)},
          {"t_posted_recv_ns", known_json(message.t_posted_recv_ns)},
          {"t_end_ns", known_json(message.t_end_ns)},
          {"t_error_ns", known_json(message.t_error_ns)},
          {"wait_ns", message.wait_ns},
          {"registration_ns", message.registration_ns},
          {"connection_ns", message.connection_ns},
          {"t_start_from", from_json(message.t_start_ns, message.t_start_from)},
          {"t_posted_recv_from", from_json(message.t_posted_recv_ns, message.t_posted_recv_from)},
          {"t_end_from", from_json(message.t_end_ns, message.t_end_from)},
          {"src_memory", memory_json(run, message.src_place())},
          {"dst_memory", memory_json(run, message.dst_place())},
          {"src_library", text_json(run, message.src_library)},
          {"dst_library", text_json(run, message.dst_library)},
          {"path", std::move(path)}};
}

SortedMessages sorted_messages(const RowSource& source, const Filter& filter, MessageOrder order,
                               std::optional<std::size_t> limit) {
  using M = Message;
  std::vector<std::pair<std::int64_t, MessageId>> keyed;  // largest key first, then by number
  const Wanted<M> wanted =
      filter.of_messages() | Wanted<M>{&M::t_start_ns, &M::t_end_ns, &M::bytes, &M::wait_ns};
  for_each_message(source, wanted, filter.of_paths(),
                   [&](const M& message, std::span<const Hop> path, MessageId id) {
                     if (filter.selects(message, path)) {
                       keyed.emplace_back(-key_of(message, order), id);
                     }
                   });
  const auto end = keyed.begin() + static_cast<std::ptrdiff_t>(
                                       std::min(keyed.size(), limit.value_or(keyed.size())));
  std::partial_sort(keyed.begin(), end, keyed.end());
  SortedMessages sorted{{}, keyed.size()};
  for (auto one = keyed.begin(); one != end; ++one) sorted.first.push_back(one->second);
  return sorted;
}

void write_messages(std::ostream& out, const RowSource& source, const Filter& filter,
                    const MessagesOptions& options) {
  const Run& run = source.run();
  Selection selection(source, filter, options.ids);
  const std::size_t limit = options.limit.value_or(SIZE_MAX);
  switch (options.format) {
    case Format::table: {
      const Labels labels(run);
      RowsOfMessages<MemoryCallRow> memory_calls(source, &MemoryCallRow::message);
      RowsOfMessages<ConnectionRow> connections(source, &ConnectionRow::first_message);
      const auto with_all = [&](const MessageWithPath& told) {
        return MessageWithPath{told.id, told.message, told.path, memory_calls(told.id),
                               connections(told.id)};
      };
      std::size_t shown = 0;
      const std::size_t told_of = selection.tell(limit, true, [&](const MessageWithPath& told) {
        ++shown;
        out << (options.detail == Detail::full ? full_receipt(run, labels, with_all(told)) + '\n'
                                               : receipt(run, labels, told));
      });
      out << fmt::format("# {} of {} messages", shown, source.count<Message>());
      const std::size_t selected = options.selected.value_or(told_of);
      if (shown < selected) out << fmt::format("; {} more are selected", selected - shown);
      out << '\n';
      write_recording_note(out, run);
      return;
    }
    case Format::json: {
      const ordered_json head = {{"schema", kInfoSchema}, {"run", run.run_id}};
      const std::string opened = dump(head);
      out << opened.substr(0, opened.size() - 1) << ",\"messages\":";
      const char* const first = "[\n";
      const char* separator = first;
      selection.tell(limit, false, [&](const MessageWithPath& told) {
        out << separator << dump(message_json(run, told));
        separator = ",\n";
      });
      out << (separator == first ? "[]}\n" : "\n]}\n");
      return;
    }
    case Format::ndjson:
      selection.tell(limit, false, [&](const MessageWithPath& told) {
        out << dump(message_json(run, told)) << '\n';
      });
      return;
    case Format::csv:
      write_csv_header(out);
      selection.tell(limit, false,
                     [&](const MessageWithPath& told) { write_csv_line(out, flat(run, told)); });
  }
}

}  // namespace uctrace
