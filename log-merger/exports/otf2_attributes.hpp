// Attributes of events, for data without a place in OTF2's records. Only otf2*.cpp include this.
#pragma once

#include <otf2/otf2.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "log-merger/exports/otf2_archive.hpp"

namespace uctrace::exports {

enum class Attribute : std::uint8_t {
  communicator,
  peer,
  tag,
  bytes,
  receive_bytes,
  call_path,
  call_site,
  end,
  message,
  match,
  protocol,
  transport,
  device,
  payload_bytes,
  wire_bytes,
  role,
  asked_by,
  progressed_in,
  memory,
  wait_kind,
  wait_rank,
  wait_ns,
  wait_unknown,
  wait_unknown_ns,
  part_event,
  part_request,
  part_partition,
  part_partitions,
  part_peer,
  part_tag,
  part_comm,
  part_bytes,
};

struct AttributeMeaning {
  Attribute attribute;
  const char* name;
  const char* description;
  OTF2_Type type;
};

inline constexpr AttributeMeaning kAttributes[] = {
    {Attribute::communicator, "uctrace.comm", "communicator of the call", OTF2_TYPE_COMM},
    {Attribute::peer, "uctrace.peer", "world rank of the peer or the root; -1 = any, -2 = null",
     OTF2_TYPE_INT32},
    {Attribute::tag, "uctrace.tag", "MPI tag; -1 = any", OTF2_TYPE_INT32},
    {Attribute::bytes, "uctrace.bytes", "what the call hands over, or the length of the buffer",
     OTF2_TYPE_UINT64},
    {Attribute::receive_bytes, "uctrace.receive_bytes", "what the call receives or fetches",
     OTF2_TYPE_UINT64},
    {Attribute::call_path, "uctrace.call_path", "where the program called",
     OTF2_TYPE_CALLING_CONTEXT},
    {Attribute::call_site, "uctrace.call_site", "line that called", OTF2_TYPE_SOURCE_CODE_LOCATION},
    {Attribute::end, "uctrace.end", "why the end is not that of the operation", OTF2_TYPE_STRING},
    {Attribute::message, "uctrace.message", "id of the message, as `uctrace messages` has it",
     OTF2_TYPE_UINT64},
    {Attribute::match, "uctrace.match", "how the send was joined with its receive",
     OTF2_TYPE_STRING},
    {Attribute::protocol, "uctrace.protocol", "UCP protocol", OTF2_TYPE_STRING},
    {Attribute::transport, "uctrace.transport", "UCT transports that carried the data",
     OTF2_TYPE_STRING},
    {Attribute::device, "uctrace.device", "UCT device", OTF2_TYPE_STRING},
    {Attribute::payload_bytes, "uctrace.payload_bytes", "of the message among wire_bytes",
     OTF2_TYPE_UINT64},
    {Attribute::wire_bytes, "uctrace.wire_bytes", "payload and headers handed to UCT",
     OTF2_TYPE_UINT64},
    {Attribute::role, "uctrace.role", "what it carried: data, control or staging",
     OTF2_TYPE_STRING},
    {Attribute::asked_by, "uctrace.asked_by", "MPI function that wanted the data",
     OTF2_TYPE_STRING},
    {Attribute::progressed_in, "uctrace.progressed_in", "MPI function that it happened in",
     OTF2_TYPE_STRING},
    {Attribute::memory, "uctrace.memory", "where the buffer is: host, gpu or managed",
     OTF2_TYPE_STRING},
    {Attribute::wait_kind, "uctrace.wait.kind", "wait state", OTF2_TYPE_STRING},
    {Attribute::wait_rank, "uctrace.wait.rank", "world rank that was waited for", OTF2_TYPE_INT32},
    {Attribute::wait_ns, "uctrace.wait.ns", "how long, in nanoseconds", OTF2_TYPE_UINT64},
    {Attribute::wait_unknown, "uctrace.wait.unknown", "why it is not known whether, or how long",
     OTF2_TYPE_STRING},
    {Attribute::wait_unknown_ns, "uctrace.wait.unknown_ns",
     "nanoseconds that may have been waiting", OTF2_TYPE_UINT64},
    {Attribute::part_event, "mpi.part.event", "event of partitioned communication",
     OTF2_TYPE_STRING},
    {Attribute::part_request, "mpi.part.request", "request, unique in the run", OTF2_TYPE_UINT64},
    {Attribute::part_partition, "mpi.part.partition", "partition, from 0", OTF2_TYPE_UINT32},
    {Attribute::part_partitions, "mpi.part.partitions", "how many the request has",
     OTF2_TYPE_UINT32},
    {Attribute::part_peer, "mpi.part.peer", "world rank of the peer", OTF2_TYPE_INT32},
    {Attribute::part_tag, "mpi.part.tag", "MPI tag", OTF2_TYPE_INT32},
    {Attribute::part_comm, "mpi.part.comm", "communicator", OTF2_TYPE_COMM},
    {Attribute::part_bytes, "mpi.part.bytes", "of all partitions", OTF2_TYPE_UINT64},
};

// The attributes of the next record; writing that empties the list.
class Otf2Attributes {
 public:
  explicit Otf2Attributes(Otf2Strings& strings) : strings_(strings) {}
  Otf2Attributes(const Otf2Attributes&) = delete;
  Otf2Attributes& operator=(const Otf2Attributes&) = delete;
  ~Otf2Attributes() { OTF2_AttributeList_Delete(list_); }

  OTF2_AttributeList* list() { return list_; }

  // An empty text: no attribute.
  Otf2Attributes& text(Attribute attribute, std::string_view text) {
    if (!text.empty()) {
      check(OTF2_AttributeList_AddStringRef(list_, id(attribute), strings_.id_of(text)));
    }
    return *this;
  }
  Otf2Attributes& count(Attribute attribute, std::uint64_t value) {
    check(OTF2_AttributeList_AddUint64(list_, id(attribute), value));
    return *this;
  }
  Otf2Attributes& count32(Attribute attribute, std::uint32_t value) {
    check(OTF2_AttributeList_AddUint32(list_, id(attribute), value));
    return *this;
  }
  // INT32_MIN: no attribute.
  Otf2Attributes& number(Attribute attribute, std::int32_t value) {
    if (value != INT32_MIN) check(OTF2_AttributeList_AddInt32(list_, id(attribute), value));
    return *this;
  }
  Otf2Attributes& comm(Attribute attribute, OTF2_CommRef comm) {
    if (comm != OTF2_UNDEFINED_COMM) {
      check(OTF2_AttributeList_AddCommRef(list_, id(attribute), comm));
    }
    return *this;
  }
  Otf2Attributes& call_path(OTF2_CallingContextRef path) {
    check(OTF2_AttributeList_AddCallingContextRef(list_, id(Attribute::call_path), path));
    return *this;
  }
  Otf2Attributes& call_site(OTF2_SourceCodeLocationRef site) {
    check(OTF2_AttributeList_AddSourceCodeLocationRef(list_, id(Attribute::call_site), site));
    return *this;
  }

 private:
  static OTF2_AttributeRef id(Attribute attribute) {
    return static_cast<OTF2_AttributeRef>(attribute);
  }

  Otf2Strings& strings_;
  OTF2_AttributeList* list_ = OTF2_AttributeList_New();
};

}  // namespace uctrace::exports
