#include "log-merger/mpi/mpi_call_kind.hpp"

#include <algorithm>
#include <initializer_list>

#include "log-merger/model/mpi_names.hpp"

namespace uctrace::merge {

namespace {

bool one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

CallKind kind_of_file(std::string_view base) {
  if (base == "file_open") return CallKind::collective;  // on the program's communicator, too
  return base.starts_with("file_i") ? CallKind::nonblocking_file : CallKind::file;
}

CallKind kind_of_message(const CallTraits& traits) {
  if (traits.sends && traits.receives) return CallKind::both;
  return traits.sends ? CallKind::send : traits.receives ? CallKind::receive : CallKind::start;
}

CallKind kind_of(const MpiName& name, const CallTraits& traits) {
  if (name.persistent) return CallKind::init;
  switch (name.kind) {
    case MpiKind::completion:
      return CallKind::other;
    case MpiKind::io:
      return kind_of_file(name.base);
    case MpiKind::p2p:
      return kind_of_message(traits);
    default:
      break;
  }
  const bool begins = name.nonblocking || one_of(name.base, {"comm_idup", "comm_idup_with_info"});
  return begins ? CallKind::nonblocking_collective : CallKind::collective;
}

}  // namespace

CallTraits call_traits(std::string_view function) {
  CallTraits traits;
  if (!function.starts_with("MPI")) return traits;
  const MpiName name = parse_mpi_name(function);
  const bool collective = name.kind == MpiKind::collective;
  const bool both = collective || one_of(name.base, {"sendrecv", "sendrecv_replace"});
  traits.sends = both || one_of(name.base, {"send", "bsend", "ssend", "rsend", "psend"});
  traits.receives = both || one_of(name.base, {"recv", "mrecv", "precv"});
  traits.partitioned = one_of(name.base, {"psend", "precv"});
  traits.on_its_context = collective || name.kind == MpiKind::p2p;
  traits.kind = kind_of(name, traits);
  return traits;
}

}  // namespace uctrace::merge
