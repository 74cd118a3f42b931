#include "mpi-attribution/ask_datatype.hpp"

namespace uctrace::mpi {

using log::Combiner;

namespace {

constexpr int kFirstCombiner = static_cast<int>(Combiner::named);
static_assert(kFirstCombiner + kUctraceCombiners == static_cast<int>(Combiner::kCount));

}  // namespace

Combiner combiner_of(Handle datatype) {
  const Describing& ask = library.describing;
  int combiner = 0, result = 0;
  if (ask.type_get_envelope_c != nullptr) {
    std::int64_t integers = 0, addresses = 0, large_counts = 0, datatypes = 0;
    result = ask.type_get_envelope_c(datatype, &integers, &addresses, &large_counts, &datatypes,
                                     &combiner);
  } else {
    int integers = 0, addresses = 0, datatypes = 0;
    result = ask.type_get_envelope(datatype, &integers, &addresses, &datatypes, &combiner);
  }
  if (result != 0) return Combiner::unknown;
  for (int i = 0; i < kUctraceCombiners; ++i) {
    if (library.combiners[i] == combiner) return static_cast<Combiner>(kFirstCombiner + i);
  }
  return Combiner::unknown;
}

namespace detail {

constinit KnownSize known_sizes[std::size_t{1} << kSizeBits]{};

namespace {

// Whether the calling thread has to fill in the datatype's size.
bool takes_place(KnownSize& place, Handle datatype) {
  // A compare-and-exchange that fails would take the line from other threads, too.
  if (__atomic_load_n(&place.datatype, __ATOMIC_RELAXED) != 0) return false;
  Handle none = 0;
  return __atomic_compare_exchange_n(&place.datatype, &none, datatype, false, __ATOMIC_RELAXED,
                                     __ATOMIC_RELAXED);
}

}  // namespace

// A datatype of the program takes a place, too: otherwise its combiner would be asked for each
// time.
[[gnu::noinline, gnu::cold]] std::int64_t ask_element_bytes(Handle datatype) {
  std::int64_t size = -1;
  if (datatype == library.datatype_null || library.ask.type_size_x(datatype, &size) != 0) return -1;
  KnownSize& place = size_place(datatype);
  if (size >= 0 && library.can_describe && takes_place(place, datatype) &&
      combiner_of(datatype) == Combiner::named) {
    __atomic_store_n(&place.bytes_plus_one, static_cast<std::uint64_t>(size) + 1, __ATOMIC_RELAXED);
  }
  return size;
}

}  // namespace detail
}  // namespace uctrace::mpi
