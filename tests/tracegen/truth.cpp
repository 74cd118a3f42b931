#include "tests/tracegen/truth.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace uctrace::tracegen {
namespace {

std::string text_json(const char* text) {
  return *text == '\0' ? "null" : fmt::format("\"{}\"", text);
}

std::string known_json(std::int64_t number) { return number < 0 ? "null" : std::to_string(number); }

// The properties that similar messages share, in the bits of one word.
struct Class {
  std::uint64_t dst, kind, interface, protocol, mpi, comm, match, memory;
  std::uint64_t packed() const {
    return dst | kind << 16 | interface << 20 | protocol << 26 | mpi << 32 | comm << 40 |
           match << 44 | memory << 48;
  }
  static Class of(std::uint64_t word) {
    const auto bits = [&](int from, int count) { return word >> from & ((1u << count) - 1); };
    return {bits(0, 16), bits(16, 4), bits(20, 6), bits(26, 6),
            bits(32, 8), bits(40, 4), bits(44, 4), bits(48, 4)};
  }
};
constexpr std::uint64_t kNoRank = 0xffff, kNoComm = 0xf;
constexpr const char* kMatches[] = {"exact", "ambiguous", "unmatched"};

// Similar operations are one hop, as when a process sends to itself.
std::vector<TruthHop> joined(const std::vector<TruthHop>& path) {
  std::vector<TruthHop> hops;
  for (const TruthHop& hop : path) {
    const auto same = std::find_if(hops.begin(), hops.end(), [&](const TruthHop& other) {
      return other.interface == hop.interface && other.by_src == hop.by_src &&
             other.exact == hop.exact && std::strcmp(other.op, hop.op) == 0 &&
             std::strcmp(other.role, hop.role) == 0;
    });
    if (same == hops.end()) {
      hops.push_back(hop);
      continue;
    }
    same->count += hop.count;
    same->bytes += hop.bytes;
    same->wire_bytes += hop.wire_bytes;
  }
  return hops;
}

std::size_t match_of(const TruthMessage& m) { return m.unmatched ? 2 : m.ambiguous ? 1 : 0; }

}  // namespace

ProcessTruth::Totals& ProcessTruth::Totals::operator+=(const Totals& more) {
  tally += more.tally;
  for (std::size_t i = 0; i < kKindNames.size(); ++i) {
    messages[i] += more.messages[i];
    bytes[i] += more.bytes[i];
  }
  exact += more.exact;
  ambiguous += more.ambiguous;
  unmatched_sends += more.unmatched_sends;
  unmatched_receives += more.unmatched_receives;
  cancelled += more.cancelled;
  tool_sends += more.tool_sends;
  dropped += more.dropped;
  outside_window += more.outside_window;
  overwritten += more.overwritten;
  stacks += more.stacks;
  return *this;
}

void ProcessTruth::add(const TruthMessage& m) {
  const auto kind = static_cast<std::size_t>(m.kind);
  ++totals_.messages[kind];
  totals_.bytes[kind] += m.bytes;
  if (m.unmatched) {
    ++(m.from_receiver ? totals_.unmatched_receives : totals_.unmatched_sends);
  } else {
    ++(m.ambiguous ? totals_.ambiguous : totals_.exact);
  }
  const auto known = std::find(protocols_.begin(), protocols_.end(), m.protocol);
  const auto protocol = static_cast<std::uint64_t>(known - protocols_.begin());
  if (known == protocols_.end()) protocols_.push_back(m.protocol);
  // The other one: of a get its source.
  const std::int32_t other = m.src == rank_ ? m.dst : m.src;
  const Class c{other < 0 ? kNoRank : static_cast<std::uint64_t>(other),
                static_cast<std::uint64_t>(m.kind),
                m.data_interface,
                protocol,
                static_cast<std::uint64_t>(m.mpi),
                m.has_comm ? static_cast<std::uint64_t>(m.comm) : kNoComm,
                match_of(m) | (m.src == rank_ ? 0u : 8u),
                (m.src_gpu ? 1u : 0u) | (m.dst_gpu ? 2u : 0u)};
  Cell& cell = cells_[c.packed()];
  ++cell.messages;
  cell.bytes += m.bytes;
  if (full_) {
    rows_ += rows_.empty() ? "\n" : ",\n";
    rows_ += row_text(m);
  }
}

std::string ProcessTruth::sites_text(const TruthMessage& m) const {
  const Stacks kept = shape_.options().stacks;
  if (kept == Stacks::off) return "";
  const auto of_call = [](MpiFunction function) {
    return function == MpiFunction::none
               ? std::string()
               : CallStacks::site_of_mpi_call(static_cast<std::uint16_t>(function));
  };
  std::string sent = of_call(m.mpi), received = of_call(m.mpi_recv);
  if (m.mpi == MpiFunction::none && kept >= Stacks::mpi) {
    const bool stream = m.kind == Kind::stream;
    sent = CallStacks::site_of_operation(stream ? log::UcpFunction::stream_send_nbx
                                                : log::UcpFunction::am_send_nbx);
    if (stream) received = CallStacks::site_of_operation(log::UcpFunction::stream_recv_nbx);
  }
  return fmt::format("\"call_site\":{},\"recv_call_site\":{},", text_json(sent.c_str()),
                     text_json(received.c_str()));
}

std::string ProcessTruth::row_text(const TruthMessage& m) const {
  std::string path;
  for (const TruthHop& hop : joined(m.path)) {
    const std::string interface =
        hop.interface == kNoInterface ? "" : shape_.interface(hop.interface).transport;
    path += fmt::format(
        "{}{{\"transport\":{},\"device\":{},\"op\":\"{}\",\"issued_by\":\"{}\",\"role\":\"{}\","
        "\"count\":{},\"bytes\":{},\"wire_bytes\":{},\"exact\":{}}}",
        path.empty() ? "" : ",", text_json(interface.c_str()),
        hop.interface == kNoInterface ? "null"
                                      : text_json(shape_.interface(hop.interface).device.c_str()),
        hop.op, hop.by_src ? "src" : "dst", hop.role, hop.count, hop.bytes, hop.wire_bytes,
        hop.exact);
  }
  // A process that ended abnormally may have found a driver after its last record.
  const auto memory = [&](bool gpu, std::int32_t rank, bool told) {
    if (gpu) return fmt::format("\"{}\"", shape_.gpu_name(rank));
    const bool killed = shape_.options().fault_of(rank, Fault::Kind::unclosed) != nullptr;
    const bool known = told || m.bytes == 0 || !killed || shape_.has_gpu(rank);
    return std::string(known ? "\"host\"" : "\"unknown\"");
  };
  const bool tagged = m.kind == Kind::tag;
  return fmt::format(
      "{{\"kind\":\"{}\",\"match\":\"{}\",\"src\":{},\"dst\":{},\"bytes\":{},\"tag\":{},"
      "\"ucp_tag\":{},\"comm\":{},\"mpi\":{},\"mpi_recv\":{},\"protocol\":{},"
      "\"protocol_from\":\"{}\",\"step\":{},\"t_start_ns\":{},\"t_posted_recv_ns\":{},\"t_end_ns\":"
      "{},"
      "\"src_memory\":{},\"dst_memory\":{},{}\"path\":[{}]}}",
      kKindNames[static_cast<std::size_t>(m.kind)], kMatches[match_of(m)], known_json(m.src),
      known_json(m.dst), m.bytes, m.has_tag ? std::to_string(m.mpi_tag) : "null",
      tagged ? fmt::format("\"{:#x}\"", m.ucp_tag) : "null",
      m.has_comm ? text_json(shape_.comm_name(m.comm, rank_).c_str()) : "null",
      text_json(name_of(m.mpi)), text_json(name_of(m.mpi_recv)), text_json(m.protocol),
      m.told ? "ucx" : "derived", m.step, known_json(m.start_ns), known_json(m.posted_ns),
      known_json(m.end_ns), memory(m.src_gpu, m.src, false),
      memory(m.dst_gpu, m.dst, m.kind == Kind::am), sites_text(m), path);
}

std::string ProcessTruth::cubes_text() const {
  std::vector<std::pair<std::uint64_t, Cell>> cells(cells_.begin(), cells_.end());
  std::sort(cells.begin(), cells.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  std::string text;
  for (const auto& [word, cell] : cells) {
    const Class c = Class::of(word);
    const bool from_other = (c.match & 8) != 0;
    const std::string other = c.dst == kNoRank ? "null" : std::to_string(c.dst);
    const std::string own = std::to_string(rank_);
    const std::string transport =
        c.interface == kNoInterface
            ? "null"
            : text_json(
                  shape_.interface(static_cast<std::uint16_t>(c.interface)).transport.c_str());
    text += fmt::format(
        "{}[{},{},\"{}\",{},{},{},{},\"{}\",\"{}\",\"{}\",{},{}]", text.empty() ? "" : ",",
        from_other ? other : own, from_other ? own : other, kKindNames[c.kind], transport,
        text_json(protocols_[c.protocol]), text_json(name_of(static_cast<MpiFunction>(c.mpi))),
        c.comm == kNoComm ? "null"
                          : text_json(shape_.comm_name(static_cast<Comm>(c.comm), rank_).c_str()),
        kMatches[c.match & 7], (c.memory & 1) != 0 ? "gpu" : "host",
        (c.memory & 2) != 0 ? "gpu" : "host", cell.messages, cell.bytes);
  }
  return text;
}

std::string ProcessTruth::text(const std::vector<log::LaneInfo>& lanes, const Tally& tally,
                               const std::string& extra) {
  totals_.tally = tally;
  totals_.cancelled = cancelled_;
  totals_.tool_sends = tool_sends_;
  std::uint64_t dropped[log::kDropKinds] = {};
  for (const log::LaneInfo& lane : lanes) {
    totals_.stacks += lane.counters.stacks_captured;
    for (std::size_t kind = 0; kind < log::kDropKinds; ++kind) {
      dropped[kind] += lane.counters.dropped[kind];
      totals_.dropped += lane.counters.dropped[kind];
      totals_.overwritten += lane.counters.overwritten[kind];
    }
    for (const std::uint64_t count : lane.counters.outside_window) totals_.outside_window += count;
  }
  std::string text = fmt::format(
      "{{\"rank\":{},\"host\":\"{}\",\"log\":\"{}\",\"events\":{},"
      "\"dropped\":[{}]{},\n"
      "\"cubes\":[{}]",
      rank_, shape_.host_name(shape_.host_of(rank_)), shape_.log_name(rank_), tally.events,
      fmt::join(dropped, ","), extra, cubes_text());
  if (full_) text += ",\n\"messages\":[" + rows_ + "]";
  rows_ = {};
  return text + "}";
}

TruthFile::TruthFile(const std::string& path, const Shape& shape, std::uint64_t steps)
    : shape_(shape), name_(path), file_(std::fopen(path.c_str(), "wbx")) {
  if (file_ == nullptr) throw std::system_error(errno, std::generic_category(), "create " + path);
  const Options& o = shape.options();
  std::string faults;
  for (const Fault& fault : o.faults) {
    faults += fmt::format("{}{{\"kind\":\"{}\",\"rank\":{},\"amount\":{}}}",
                          faults.empty() ? "" : ",", name_of(fault.kind), fault.rank, fault.amount);
  }
  write(fmt::format(
      "{{\"schema\":1,\"seed\":{},\"processes\":{},\"hosts\":{},\"lanes\":{},\"steps\":{},"
      "\"round_trip_ns\":{},\"faults\":[{}],\n\"cube_columns\":[\"src\",\"dst\",\"kind\","
      "\"transport\",\"protocol\",\"mpi\",\"comm\",\"match\",\"src_memory\",\"dst_memory\","
      "\"messages\",\"bytes\"],\n\"by_process\":[\n",
      o.seed, o.processes, o.hosts, o.lanes, steps, o.round_trip_ns, faults));
}

TruthFile::~TruthFile() {
  if (file_ != nullptr) std::fclose(file_);
}

void TruthFile::write(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) {
    throw std::system_error(errno, std::generic_category(), "write " + name_);
  }
}

void TruthFile::add(std::int32_t rank, const std::string& text,
                    const ProcessTruth::Totals& totals) {
  std::unique_lock lock(mutex_);
  turn_.wait(lock, [&] { return next_ == rank || given_up_; });
  if (given_up_) return;
  write((rank == 0 ? "" : ",\n") + text);
  totals_ += totals;
  ++next_;
  turn_.notify_all();
}

void TruthFile::give_up() {
  const std::lock_guard lock(mutex_);
  given_up_ = true;
  turn_.notify_all();
}

void TruthFile::finish() {
  std::string kinds;
  for (std::size_t i = 0; i < kKindNames.size(); ++i) {
    kinds += fmt::format("{}\"{}\":{{\"messages\":{},\"bytes\":{}}}", i == 0 ? "" : ",",
                         kKindNames[i], totals_.messages[i], totals_.bytes[i]);
  }
  const Tally& t = totals_.tally;
  write(fmt::format(
      "\n],\n\"totals\":{{\"events\":{},\"uct_posted\":{},\"uct_arrivals\":{},"
      "\"ucp_operations\":{},\"mpi_calls\":{},\"exact\":{},\"ambiguous\":{},"
      "\"unmatched_sends\":{},\"unmatched_receives\":{},\"cancelled\":{},\"tool_sends\":{},"
      "\"dropped\":{},\"outside_window\":{},\"overwritten\":{},\"stacks\":{},\"kinds\":{{{}}}}}}}"
      "\n",
      t.events, t.uct_posted, t.uct_arrivals, t.ucp_operations, t.mpi_calls, totals_.exact,
      totals_.ambiguous, totals_.unmatched_sends, totals_.unmatched_receives, totals_.cancelled,
      totals_.tool_sends, totals_.dropped, totals_.outside_window, totals_.overwritten,
      totals_.stacks, kinds));
  std::FILE* file = std::exchange(file_, nullptr);
  if (std::fclose(file) != 0) throw std::system_error(errno, std::generic_category(), name_);
}

}  // namespace uctrace::tracegen
