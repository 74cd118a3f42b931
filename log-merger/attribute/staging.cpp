#include "log-merger/attribute/staging.hpp"

#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "log-merger/attribute/attribution.hpp"
#include "log-merger/attribute/id_table.hpp"
#include "log-merger/attribute/wire_view.hpp"

namespace uctrace::merge {

namespace {

const UcpOp& ucp(const Job& job, Index index) { return job.ucp[static_cast<std::size_t>(index)]; }

// What was sent with one header to one process, and how much of that has arrived.
struct Delivered {
  std::vector<Index> serves;  // in order
  std::size_t next = 0;
  Index sender = kNone;
  bool several = false;  // processes that sent them
};

const Arrival& arrival(const Job& job, Index index) {
  return job.arrivals[static_cast<std::size_t>(index)];
}

HeaderKey key_of_arrival(const Arrival& arrival) {
  return key_of(arrival.process, arrival.am_id, arrival.header);
}

Index arrival_of(const Job& job, const UctOp& op) {
  const auto& ids = job.logs[static_cast<std::size_t>(op.process)].arrival_by_id;
  const auto found = op.origin_kind == log::Origin::arrival ? ids.find(op.origin) : ids.end();
  return found != ids.end() ? found->second : kNone;
}

// Which message each request of a receiver was for, by the id that it announced its memory with:
// the sender puts that into what it sends there.
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

// Where an operation went: to the other end of what it serves, or, as an answer, to who had asked.
Index destination_of(const Job& job, const UctOp& op) {
  const UcpOp& served = ucp(job, op.serves);
  return op.process == served.process ? receiver_of(job, served) : served.process;
}

void learn_deliveries(const Job& job, std::map<HeaderKey, Delivered>& wanted) {
  const auto key = [&](const UctOp& op) {
    return key_of(destination_of(job, op), op.am_id, op.header);
  };
  const auto is_wanted = [&](const UctOp& op) {
    return accepted(op) && op.serves != kNone && wanted.contains(key(op));
  };
  for (const Index index : in_time_order(job.uct, is_wanted)) {
    const UctOp& op = job.uct[static_cast<std::size_t>(index)];
    Delivered& delivered = wanted.at(key(op));
    delivered.several |= delivered.sender != kNone && delivered.sender != op.process;
    delivered.sender = op.process;
    delivered.serves.push_back(op.serves);
  }
}

}  // namespace

void find_device_copies(Job& job) {
  each_at_once(job, [&](UctOp& op) {
    const Interface* interface =
        job.logs[static_cast<std::size_t>(op.process)].interface(op.interface);
    op.staging = op.staging || (interface != nullptr && interface->of_ucp && op.moves_memory() &&
                                interface->device_type == log::DeviceType::accelerator &&
                                peer_of(job, op) == op.process);
  });
}

void attribute_delivered_copies(Job& job, OpenOperations& open) {
  const IdTable requests = receive_requests(job);
  std::map<HeaderKey, Delivered> wanted;
  open.each([&](UctOp& op) {
    const Index index = op.staging ? arrival_of(job, op) : kNone;
    if (index == kNone) {
      return;
    }
    const Arrival& from = arrival(job, index);
    if (answers_announcement(from)) {
      const std::uint64_t request = from.header.words[0];
      attribute(op, requests.find({from.process}, request, from.start_ns), Link::exact);
    }
    if (op.serves == kNone) {
      wanted[key_of_arrival(from)];
    }
  });
  if (wanted.empty()) {
    return;
  }
  learn_deliveries(job, wanted);
  std::unordered_map<Index, std::pair<Index, Link>> serves_of;  // by arrival
  const auto is_wanted = [&](const Arrival& arrival) {
    return wanted.contains(key_of_arrival(arrival));
  };
  for (const Index index : in_time_order(job.arrivals, is_wanted)) {
    Delivered& delivered = wanted.at(key_of_arrival(arrival(job, index)));
    if (delivered.next < delivered.serves.size()) {
      serves_of[index] = {delivered.serves[delivered.next++],
                          delivered.several ? Link::inferred : Link::exact};
    }
  }
  open.each([&](UctOp& op) {
    const auto found = op.staging ? serves_of.find(arrival_of(job, op)) : serves_of.end();
    if (found != serves_of.end()) {
      attribute(op, found->second.first, found->second.second);
    }
  });
}

void find_copies(Job& job) {
  each_at_once(job, [&](UctOp& op) {
    if (!op.moves_memory() || op.serves == kNone || peer_of(job, op) != op.process) {
      return;
    }
    const Index other = receiver_of(job, ucp(job, op.serves));
    op.staging |= other != kNone && other != ucp(job, op.serves).process;
  });
}

}  // namespace uctrace::merge
