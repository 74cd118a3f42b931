#include "mpi-attribution/volumes.hpp"

#include "mpi-attribution/collective_side.hpp"

namespace uctrace::mpi {
namespace {

// The processes whose data a call moves, and this process's place among them.
class Place {
 public:
  explicit Place(Handle communicator) : communicator_(communicator) {}

  bool inter() const { return ask(library.ask.comm_test_inter) != 0; }
  int rank() const { return ask(library.ask.comm_rank); }
  int local_size() const { return ask(library.ask.comm_size); }
  // Size of the group that data goes to and comes from.
  int size() const { return inter() ? ask(library.ask.comm_remote_size) : local_size(); }

  struct Degrees {
    int in, out;
  };
  Degrees neighbors() const {
    const int topology = ask(library.ask.topo_test);
    int in = 0, out = 0, weighted = 0;
    if (topology == library.cartesian) {
      in = out = 2 * ask(library.ask.cartdim_get);
    } else if (topology == library.graph) {
      library.ask.graph_neighbors_count(communicator_, rank(), &in);
      out = in;
    } else if (topology == library.distributed_graph) {
      library.ask.dist_graph_neighbors_count(communicator_, &in, &out, &weighted);
    }
    return {in, out};
  }

 private:
  int ask(int (*question)(Word, int*)) const {
    int answer = 0;
    question(communicator_, &answer);
    return answer;
  }

  Handle communicator_;
};

// The role of this process in a call with a root.
struct Rooted {
  bool is_root;     // hands data to, or gets it from, all processes of place.size()
  bool takes_part;  // as one of those
};

Rooted rooted(const UctraceCollective& call, const Place& place) {
  const auto root = static_cast<std::int32_t>(call.root);
  if (place.inter())
    return {root == library.root, root != library.root && root != library.proc_null};
  return {root == place.rank(), true};
}

// --- by rule -------------------------------------------------------------------------------------

Volume of_bcast(const UctraceCollective& call, const Place& place) {
  const std::uint64_t data = Side(call.send, call).one();
  const Rooted me = rooted(call, place);
  return {me.is_root ? data : 0, !me.is_root && me.takes_part ? data : 0};
}

Volume of_reduce(const UctraceCollective& call, const Place& place) {
  const std::uint64_t data = Side(call.send, call).one();
  const Rooted me = rooted(call, place);
  return {me.takes_part ? data : 0, me.is_root ? data : 0};
}

// One datatype, and counts of what each process gets.
Volume of_reduce_scatter(const UctraceCollective& call, const Place& place, bool block) {
  UctraceSide both = call.receive;
  both.datatype = call.send.datatype;
  const Side side(both, call);
  if (block) return {side.each(place.local_size()), side.one()};
  return {side.sum(place.local_size()), side.at(place.rank())};
}

// With MPI_IN_PLACE the root's own part is already in its receive buffer, so the receive arguments
// tell its length.
Volume of_gather(const UctraceCollective& call, const Place& place, bool counts) {
  const Rooted me = rooted(call, place);
  const Side send(call.send, call), receive(call.receive, call);
  Volume volume{0, 0};
  if (me.is_root)
    volume.recv_bytes = counts ? receive.sum(place.size()) : receive.each(place.size());
  if (me.takes_part) {
    volume.bytes = !send.in_place() ? send.one()
                   : counts         ? receive.at(place.rank())
                                    : receive.one();
  }
  return volume;
}

Volume of_scatter(const UctraceCollective& call, const Place& place, bool counts) {
  const Rooted me = rooted(call, place);
  const Side send(call.send, call), receive(call.receive, call);
  Volume volume{0, 0};
  if (me.is_root) volume.bytes = counts ? send.sum(place.size()) : send.each(place.size());
  if (me.takes_part) {
    volume.recv_bytes = !receive.in_place() ? receive.one()
                        : counts            ? send.at(place.rank())
                                            : send.one();
  }
  return volume;
}

Volume of_allgather(const UctraceCollective& call, const Place& place, bool counts) {
  const Side send(call.send, call), receive(call.receive, call);
  const std::uint64_t all = counts ? receive.sum(place.size()) : receive.each(place.size());
  const std::uint64_t own = !send.in_place() ? send.one()
                            : counts         ? receive.at(place.rank())
                                             : receive.one();
  return {own, all};
}

Volume of_alltoall(const UctraceCollective& call, const Place& place, bool counts) {
  const Side send(call.send, call), receive(call.receive, call);
  const int size = place.size();
  const auto all = [&](const Side& side) { return counts ? side.sum(size) : side.each(size); };
  const std::uint64_t received = all(receive);
  return {send.in_place() ? received : all(send), received};
}

Volume of_neighbors(const UctraceCollective& call, const Place& place) {
  const Side send(call.send, call), receive(call.receive, call);
  const Place::Degrees degrees = place.neighbors();
  switch (call.rule) {
    case kUctraceNeighborAllgather:
      return {send.one(), receive.each(degrees.in)};
    case kUctraceNeighborAllgatherv:
      return {send.one(), receive.sum(degrees.in)};
    case kUctraceNeighborAlltoall:
      return {send.each(degrees.out), receive.each(degrees.in)};
    default:
      return {send.sum(degrees.out), receive.sum(degrees.in)};
  }
}

}  // namespace

Volume volume_of(const UctraceCollective& call) {
  if (call.rule == kUctraceNoVolume) return {0, 0};
  const Place place(library.handle(call.call.scope));
  switch (call.rule) {
    case kUctraceNoVolume:
      break;
    case kUctraceBcast:
      return of_bcast(call, place);
    case kUctraceAllreduce:
    case kUctraceScan: {
      const std::uint64_t data = Side(call.send, call).one();
      return {data, data};
    }
    case kUctraceExscan: {
      const std::uint64_t data = Side(call.send, call).one();
      return {data, place.rank() == 0 ? 0 : data};
    }
    case kUctraceReduce:
      return of_reduce(call, place);
    case kUctraceReduceScatter:
      return of_reduce_scatter(call, place, false);
    case kUctraceReduceScatterBlock:
      return of_reduce_scatter(call, place, true);
    case kUctraceGather:
      return of_gather(call, place, false);
    case kUctraceGatherv:
      return of_gather(call, place, true);
    case kUctraceScatter:
      return of_scatter(call, place, false);
    case kUctraceScatterv:
      return of_scatter(call, place, true);
    case kUctraceAllgather:
      return of_allgather(call, place, false);
    case kUctraceAllgatherv:
      return of_allgather(call, place, true);
    case kUctraceAlltoall:
      return of_alltoall(call, place, false);
    case kUctraceAlltoallv:
    case kUctraceAlltoallw:
      return of_alltoall(call, place, true);
    case kUctraceNeighborAllgather:
    case kUctraceNeighborAllgatherv:
    case kUctraceNeighborAlltoall:
    case kUctraceNeighborAlltoallv:
    case kUctraceNeighborAlltoallw:
      return of_neighbors(call, place);
  }
  return {0, 0};
}

}  // namespace uctrace::mpi
