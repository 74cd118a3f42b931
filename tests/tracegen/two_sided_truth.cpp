// What a reader should find of a tagged message.
#include "tests/tracegen/wire_form.hpp"

namespace uctrace::tracegen {
namespace {

const char* derived_protocol(Way way) {
  switch (way) {
    case Way::eager_short:
      return "eager/short";
    case Way::eager_bcopy:
      return "eager/bcopy";
    case Way::eager_zcopy:
      return "eager/zcopy";
    case Way::multi_bcopy:
      return "eager/multi/bcopy";
    case Way::multi_zcopy:
      return "eager/multi/zcopy";
    case Way::sync_bcopy:
      return "eager-sync/bcopy";
    case Way::rndv_get:
      return "rndv/get/zcopy";
    case Way::rndv_put:
      return "rndv/put/zcopy";
    case Way::rndv_am:
      return "rndv/am/bcopy";
    case Way::rkey_ptr:
      return "rndv/rkey_ptr";
    case Way::rndv_offload:
      return "rndv/offload/zcopy";
  }
  return "";
}

const char* told_protocol(Way way) {
  const char* eager = eager_protocol(way);
  return *eager != '\0' ? eager : derived_protocol(way);  // those of rendezvous are the same
}

// Where the receiver's interface matches tags.
const char* offload_protocol(Way way) {
  switch (way) {
    case Way::eager_short:
      return "offload/short";
    case Way::eager_bcopy:
      return "offload/bcopy";
    case Way::eager_zcopy:
      return "offload/zcopy";
    case Way::sync_bcopy:
      return "offload-sync/bcopy";
    default:
      return derived_protocol(way);
  }
}

TruthHop control(const Message& m, std::uint64_t bytes, bool by_src) {
  return {m.control, "am_short", by_src, "control", 1, 0, bytes, true};
}

std::vector<TruthHop> eager_path(const Message& m) {
  const std::uint64_t n = fragments_of(m);
  const bool parts = m.way == Way::multi_bcopy || m.way == Way::multi_zcopy;
  const std::uint64_t headers = parts ? 24 + 16 * (n - 1) : m.way == Way::sync_bcopy ? 24 : 8;
  const char* op = m.way == Way::eager_short ? "am_short" : m.is_zcopy() ? "am_zcopy" : "am_bcopy";
  std::vector<TruthHop> path{{m.control, op, true, "data", n, m.bytes, m.bytes + headers, true}};
  if (m.way == Way::sync_bcopy) path.push_back(control(m, kAckBytes, false));
  if (m.src_gpu) {
    path.push_back({kCudaCopy, "get_short", true, "staging", 1, 0, m.bytes, true});
  }
  if (m.dst_gpu) {
    path.push_back({kCudaCopy, "put_short", false, "staging", 1, 0, m.bytes, true});
  }
  return path;
}

std::vector<TruthHop> offload_path(const Message& m) {
  const auto step = [&](const char* op, bool by_src, const char* role, std::uint64_t bytes,
                        std::uint64_t wire) {
    return TruthHop{m.control, op, by_src, role, 1, bytes, wire, true};
  };
  std::vector<TruthHop> path;
  if (m.met) path.push_back(step("tag_recv_zcopy", false, "control", 0, 0));
  switch (m.way) {
    case Way::rndv_offload:
      path.push_back(step("tag_rndv_zcopy", true, "data", m.bytes, m.bytes));
      return path;
    case Way::rndv_get:
      path.push_back(step("tag_rndv_zcopy", true, "control", 0, 0));
      path.push_back(step("get_zcopy", false, "data", m.bytes, m.bytes));
      path.push_back(step("am_short", false, "control", 0, kAckBytes));
      path.push_back(step("tag_rndv_cancel", true, "control", 0, 0));
      return path;
    default:
      break;
  }
  path.push_back(step(m.way == Way::eager_short ? "tag_eager_short"
                      : m.is_zcopy()            ? "tag_eager_zcopy"
                                                : "tag_eager_bcopy",
                      true, "data", m.bytes, m.bytes));
  if (m.way == Way::sync_bcopy) path.push_back(step("am_short", false, "control", 0, kAckBytes));
  return path;
}

std::vector<TruthHop> path_of(const Message& m) {
  if (m.offload) return offload_path(m);
  switch (m.way) {
    case Way::rndv_get:
      return {control(m, kRtsBytes, true),
              {m.data, "get_zcopy", false, "data", 1, m.bytes, m.bytes, true},
              control(m, kAckBytes, false)};
    case Way::rndv_put:
      return {control(m, kRtsBytes, true),
              control(m, kRtrBytes, false),
              {m.data, "put_zcopy", true, "data", 1, m.bytes, m.bytes, true},
              control(m, kAckBytes, true)};
    case Way::rndv_am: {
      const std::uint64_t n = fragments_of(m);
      return {control(m, kRtsBytes, true),
              control(m, kRtrBytes, false),
              {m.data, "am_bcopy", true, "data", n, m.bytes, m.bytes + 16 * n, true}};
    }
    case Way::rkey_ptr:
      return {control(m, kRtsBytes, true),
              control(m, kAckBytes, false),
              {m.control, "cpu_copy", false, "data", 1, m.bytes, 0, false}};
    default:
      return eager_path(m);
  }
}

TruthMessage truth_of(const Shape& shape, const Step& step, const Message& m, const Calls& calls) {
  TruthMessage t;
  t.ambiguous = step.kind == StepKind::shared_tag;
  t.step = step.number;
  t.src = m.src;
  t.dst = m.dst;
  t.bytes = m.bytes;
  t.has_tag = !m.collective;
  t.mpi_tag = m.mpi_tag;
  t.ucp_tag = m.tag;
  t.has_comm = true;
  t.comm = step.comm;
  t.mpi = calls.send;
  t.mpi_recv = calls.receive;
  t.told = shape.options().protocols == 2 && m.way != Way::eager_short;
  if (m.offload) t.told = t.told && m.way == Way::rndv_get;
  t.protocol = t.told      ? told_protocol(m.way)
               : m.offload ? offload_protocol(m.way)
                           : derived_protocol(m.way);
  const Instants at = instants_of(shape, step, m);
  t.start_ns = at.send_ns;
  t.posted_ns = at.posted_ns;
  t.end_ns = at.end_ns;
  // An empty message has no data on a GPU.
  t.src_gpu = m.src_gpu && m.bytes > 0;
  t.dst_gpu = m.dst_gpu && m.bytes > 0;
  t.data_interface = m.data;
  t.path = path_of(m);
  // What went by way of one process to itself is on one side.
  if (m.src == m.dst) {
    for (TruthHop& hop : t.path) hop.by_src = true;
  }
  return t;
}

}  // namespace

void Sender::tell_truth(const Calls& calls) {
  TruthMessage t = truth_of(shape(), step_, m_, calls);
  if (shape().options().is_missing(m_.dst)) {
    t.unmatched = true;
    t.dst = -1;
    t.mpi_recv = MpiFunction::none;
    t.posted_ns = t.end_ns = -1;
    t.path.clear();
  }
  log_.truth().add(t);
}

// The sender's log is missing: only its tag is known.
void Receiver::tell_lost_sender(const Calls& calls) {
  if (!shape().options().is_missing(m_.src)) return;
  TruthMessage t = truth_of(shape(), step_, m_, calls);
  t.unmatched = t.from_receiver = true;
  t.mpi = MpiFunction::none;
  t.start_ns = -1;
  t.path.clear();
  log_.truth().add(t);
}

}  // namespace uctrace::tracegen
