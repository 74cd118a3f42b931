#include "log-merger/rails/rails.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "log-merger/attribute/payload.hpp"
#include "log-merger/rails/card_readings.hpp"

namespace uctrace::merge {

bool brings_data(const UctOp& op) {
  return op.fetches() || op.op == log::UctOp::atomic32_fetch || op.op == log::UctOp::atomic64_fetch;
}

namespace {

class Rails {
 public:
  explicit Rails(const Job& job) : job_(job), run_(job.run), hosts_(job), ways_(job.logs.size()) {}

  std::vector<NetworkCard> find() {
    for (const auto& [host, readings] : host_readings(job_, hosts_)) {
      for (const auto& [device, card] : readings.cards()) cards_[{host, device}] = card;
    }
    for (const ProcessIndex process : job_.logs.indexes()) add_opened(process);
    for (const UctOp& op : job_.uct) add(op);
    std::vector<NetworkCard> rows;
    for (auto& [key, card] : cards_) {
      card.host = hosts_.label(key.first);
      card.device = key.second;
      rows.push_back(card);
    }
    return rows;
  }

 private:
  // Where the other end of an operation is.
  enum class Other : std::uint8_t { unknown, inside, outside };
  // The card of an endpoint's operations; nullptr: none, or not known.
  struct Way {
    bool known = false;
    Other where = Other::unknown;
    NetworkCard *own = nullptr, *other = nullptr;
  };

  NetworkCard& card(const Host& host, TextId device) { return cards_[{host, run_.texts[device]}]; }

  void add_opened(ProcessIndex process) {
    for (const Interface& interface : job_.logs[process].interfaces) {
      if (interface.device_type != log::DeviceType::network) continue;
      card(hosts_.of(process), interface.device).opened = true;
    }
  }

  // By the interface alone if the endpoint is not known.
  Way way_of(const UctOp& op) {
    Way way;
    way.known = true;
    const ProcessLog& log = job_.logs[op.process];
    const Interface* interface = log.interface(op.interface);
    if (interface == nullptr || interface->device_type != log::DeviceType::network) return way;
    const Host& host = hosts_.of(op.process);
    way.own = &card(host, interface->device);
    if (op.endpoint_row == kNone) return way;
    const Endpoint& endpoint = log.endpoints[op.endpoint_row];
    if (endpoint.peer_process == kNone) return way;
    const Host& other = hosts_.of(endpoint.peer_process);
    if (host.boot_id.empty() || other.boot_id.empty()) return way;
    way.where = other == host ? Other::inside : Other::outside;
    if (way.where == Other::outside && endpoint.remote_device != kNoText) {
      way.other = &card(other, endpoint.remote_device);
    }
    return way;
  }

  const Way& way_of_endpoint(const UctOp& op) {
    std::vector<Way>& ways = ways_[op.process.place()];
    const std::size_t row = op.endpoint_row.place();
    if (ways.size() <= row) ways.resize(row + 1);
    if (!ways[row].known) ways[row] = way_of(op);
    return ways[row];
  }

  // The data leaves through one card and arrives through the other. Requests for data count as
  // headers of lower layers.
  void add(const UctOp& op) {
    if (op.failed() || op.staging || op.bytes == 0) return;
    const Way way = op.endpoint_row == kNone ? way_of(op) : way_of_endpoint(op);
    if (way.own == nullptr) return;
    if (way.where != Other::outside) {
      const bool inside = way.where == Other::inside;
      ++(inside ? way.own->inside_operations : way.own->unknown_operations);
      (inside ? way.own->inside_bytes : way.own->unknown_bytes) += op.bytes;
      return;
    }
    add_outside(*way.own, !brings_data(op), op);
    if (way.other != nullptr) add_outside(*way.other, brings_data(op), op);
  }

  static void add_outside(NetworkCard& card, bool sends, const UctOp& op) {
    ++(sends ? card.sent_operations : card.received_operations);
    (sends ? card.sent_bytes : card.received_bytes) += op.bytes;
    (sends ? card.sent_payload_bytes : card.received_payload_bytes) += payload_bytes(op);
  }

  const Job& job_;
  const Run& run_;
  const Hosts hosts_;
  std::vector<std::vector<Way>> ways_;                         // by process and endpoint
  std::map<std::pair<Host, std::string>, NetworkCard> cards_;  // by host and device
};

}  // namespace

std::vector<NetworkCard> find_rails(const Job& job) { return Rails(job).find(); }

}  // namespace uctrace::merge
