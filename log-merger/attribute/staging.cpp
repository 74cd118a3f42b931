#include "log-merger/attribute/staging.hpp"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "log-merger/attribute/attribution.hpp"
#include "log-merger/attribute/id_table.hpp"
#include "log-merger/attribute/wire_view.hpp"

namespace uctrace::merge {

namespace {

const UcpOp& ucp(const Job& job, UcpIndex index) { return job.ucp[index]; }

// The sends with one header to one process, and how many of them have arrived.
struct Delivered {
  std::vector<UcpIndex> serves;  // in order
  std::size_t next = 0;
  ProcessIndex sender;
  bool several = false;  // processes that sent them
};

const Arrival& arrival(const Job& job, ArrivalIndex index) { return job.arrivals[index]; }

ArrivalIndex arrival_of(const Job& job, const UctOp& op) {
  const auto& ids = job.logs[op.process].arrival_by_id;
  const auto found = op.origin_kind == log::Origin::arrival ? ids.find(op.origin) : ids.end();
  return found != ids.end() ? found->second : kNone;
}

// The message of each receiver's request, by the id with which it announced its memory: the sender
// puts this id into the headers of its data.
IdTable receive_requests(const Job& job) {
  IdTable requests;
  for (const UctOp& op : job.uct) {
    if (accepted(op) && op.link == Link::exact && op.serves != kNone &&
        is(op, wire::AmId::rndv_rtr) && op.header.count > 1) {
      requests.add({op.process}, op.header.words[1], op.start_ns, op.serves);
    }
  }
  requests.seal();
  return requests;
}

bool answers_announcement(const Arrival& arrival) {
  return is(arrival, wire::AmId::rndv_atp) || is(arrival, wire::AmId::rndv_data);
}

// The destination of an operation: the other end of the operation that it serves or, for an answer,
// the process that asked.
ProcessIndex destination_of(const Job& job, const UctOp& op) {
  const UcpOp& served = ucp(job, op.serves);
  return op.process == served.process ? receiver_of(job, served) : served.process;
}

// Pairs headers of both sides. A sender cannot read device memory, so it may lack a digest that the
// receiver has. The digest of headers that are otherwise equal is then ignored.
class HeaderKeys {
 public:
  explicit HeaderKeys(const Job& job) {
    for (const UctOp& op : job.uct) {
      if (accepted(op) && op.serves != kNone && lacks_digest(op)) {
        without_digest_.insert(key_without_digest(destination_of(job, op), op));
      }
    }
    for (const Arrival& arrival : job.arrivals) {
      if (lacks_digest(arrival)) {
        without_digest_.insert(key_without_digest(arrival.process, arrival));
      }
    }
  }

  template <typename Event>
  HeaderKey of(ProcessIndex destination, const Event& event) const {
    if (has_digest(event)) {
      const HeaderKey key = key_without_digest(destination, event);
      if (without_digest_.contains(key)) return key;
    }
    return key_of(destination, event.am_id, event.header);
  }
  HeaderKey of(const Arrival& arrival) const { return of(arrival.process, arrival); }

 private:
  static bool may_have_digest(std::uint8_t am_id) { return wire::shape_of(am_id).digest; }
  template <typename Event>
  static bool has_digest(const Event& event) {
    return may_have_digest(event.am_id) && event.header.count == wire::shape_of(event.am_id).words;
  }
  template <typename Event>
  static bool lacks_digest(const Event& event) {
    return may_have_digest(event.am_id) && event.header.count < wire::shape_of(event.am_id).words;
  }
  template <typename Event>
  static HeaderKey key_without_digest(ProcessIndex destination, const Event& event) {
    HeaderWords words = event.header;
    words.words[wire::shape_of(event.am_id).words - 1u] = 0;
    return key_of(destination, event.am_id, words);
  }

  std::set<HeaderKey> without_digest_;
};

void learn_deliveries(const Job& job, const HeaderKeys& keys,
                      std::map<HeaderKey, Delivered>& wanted) {
  const auto key = [&](const UctOp& op) { return keys.of(destination_of(job, op), op); };
  const auto is_wanted = [&](const UctOp& op) {
    return accepted(op) && op.serves != kNone && wanted.contains(key(op));
  };
  for (const UctIndex index : in_time_order(job.uct, is_wanted)) {
    const UctOp& op = job.uct[index];
    Delivered& delivered = wanted.at(key(op));
    delivered.several |= delivered.sender != kNone && delivered.sender != op.process;
    delivered.sender = op.process;
    delivered.serves.push_back(op.serves);
  }
}

bool may_lack_transfers(const Job& job) {
  return job.partly_recorded() ||
         std::any_of(job.logs.begin(), job.logs.end(), [](const ProcessLog& log) {
           return log.file.dropped_records() != 0 || log.file.damage().any();
         });
}

struct Served {
  UcpIndex by;
  Link link = Link::exact;
};

// The k-th arrival belongs to the k-th send.
Served next_in_order(Delivered& delivered) {
  if (delivered.next == delivered.serves.size()) return {};
  return {delivered.serves[delivered.next++], delivered.several ? Link::inferred : Link::exact};
}

// If events are missing, either may not be the k-th. But a message that was received before, or
// sent later, cannot be the one that arrives.
Served next_in_time(const Job& job, const Arrival& arrival, Delivered& delivered) {
  const auto began_by = [&](UcpIndex index) {
    const UcpOp& op = ucp(job, index);
    const auto margin =
        clock_margin_ns(job, arrival.process, arrival.start_ns, op.process, op.start_ns);
    return !margin || op.start_ns <= arrival.start_ns + *margin;
  };
  const std::vector<UcpIndex>& serves = delivered.serves;
  const auto has_receive = [&](UcpIndex index) { return ucp(job, index).partner != kNone; };
  const auto is_over = [&](UcpIndex index) {
    const std::int64_t end = has_receive(index) ? ucp(job, ucp(job, index).partner).end_ns : -1;
    return end >= 0 && end < arrival.start_ns;
  };
  std::size_t& next = delivered.next;
  while (next < serves.size() && is_over(serves[next])) ++next;
  // If the receive is not known, the arrival mostly is not either.
  std::size_t paired = next;
  const auto may_be = [&](std::size_t at) { return at < serves.size() && began_by(serves[at]); };
  while (may_be(paired) && (!has_receive(serves[paired]) || is_over(serves[paired]))) ++paired;
  if (may_be(paired)) next = paired;
  if (!may_be(next)) return {};
  return {serves[next++], Link::inferred};
}

}  // namespace

void find_device_copies(Job& job) {
  each_at_once(job, [&](UctOp& op) {
    const Interface* interface = job.logs[op.process].interface(op.interface);
    op.staging = op.staging || (interface != nullptr && interface->of_ucp && op.moves_memory() &&
                                interface->device_type == log::DeviceType::accelerator &&
                                peer_of(job, op) == op.process);
  });
}

void attribute_delivered_copies(Job& job, OpenOperations& open) {
  std::atomic<bool> any = false;
  open.each_at_once([&](UctOp& op) {
    if (op.staging && arrival_of(job, op) != kNone) any = true;
  });
  if (!any) return;
  const IdTable requests = receive_requests(job);
  std::vector<ArrivalIndex> unknown;
  open.each([&](UctOp& op) {
    const ArrivalIndex index = op.staging ? arrival_of(job, op) : kNone;
    if (index == kNone) {
      return;
    }
    const Arrival& from = arrival(job, index);
    if (answers_announcement(from)) {
      const std::uint64_t request = from.header.words[0];
      attribute(op, requests.find({from.process}, request, from.start_ns), Link::exact);
    }
    if (op.serves == kNone) {
      unknown.push_back(index);
    }
  });
  if (unknown.empty()) {
    return;
  }
  const HeaderKeys keys(job);
  std::map<HeaderKey, Delivered> wanted;
  for (const ArrivalIndex index : unknown) wanted[keys.of(arrival(job, index))];
  learn_deliveries(job, keys, wanted);
  std::unordered_map<ArrivalIndex, Served> served;
  const bool whole = !may_lack_transfers(job);
  const auto is_wanted = [&](const Arrival& arrival) { return wanted.contains(keys.of(arrival)); };
  for (const ArrivalIndex index : in_time_order(job.arrivals, is_wanted)) {
    const Arrival& from = arrival(job, index);
    Delivered& delivered = wanted.at(keys.of(from));
    served[index] = whole ? next_in_order(delivered) : next_in_time(job, from, delivered);
  }
  open.each([&](UctOp& op) {
    const auto found = op.staging ? served.find(arrival_of(job, op)) : served.end();
    if (found != served.end() && found->second.by != kNone) {
      attribute(op, found->second.by, found->second.link);
    }
  });
}

void find_copies(Job& job) {
  each_at_once(job, [&](UctOp& op) {
    if (!op.moves_memory() || op.serves == kNone || peer_of(job, op) != op.process) {
      return;
    }
    const ProcessIndex other = receiver_of(job, ucp(job, op.serves));
    op.staging |= other != kNone && other != ucp(job, op.serves).process;
  });
}

}  // namespace uctrace::merge
