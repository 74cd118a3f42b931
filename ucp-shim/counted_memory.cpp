#include "ucp-shim/counted_memory.hpp"

#include "device-attributor/device_attributor.hpp"
#include "ucp-shim/buffer_lists.hpp"
#include "ucp-shim/buffer_memory.hpp"
#include "ucp-shim/requests.hpp"

namespace uctrace::ucp {

namespace {

using gpu::DataPlace;

constexpr CountedMemory kUnknownPlace = 0;

// The common place of all parts of a list, else unknown.
class CommonPlace {
 public:
  explicit CommonPlace(log::Lane& lane) : lane_(lane) {}

  void add(const void* part) {
    if (parts_++ == 0) {
      place_ = gpu::data_place_of(lane_, part);
    } else if (place_.kind != DataPlace::Kind::unknown) {
      const bool is_same =
          parts_ <= ListMemory::kMostParts && gpu::data_place_of(lane_, part) == place_;
      place_ = is_same ? place_ : DataPlace{};
    }
  }
  DataPlace place() const {
    return parts_ == 0 ? DataPlace{.kind = DataPlace::Kind::host} : place_;
  }

 private:
  log::Lane& lane_;
  DataPlace place_{};
  unsigned parts_ = 0;
};

DataPlace place_of_data(log::Lane& lane, const RequestParam& param, const void* buffer,
                        std::size_t count) {
  const ucp_datatype_t datatype = (param.op_attr_mask & UCP_OP_ATTR_FIELD_DATATYPE) != 0
                                      ? param.datatype
                                      : ucp_dt_make_contig(1);
  CommonPlace place(lane);
  if (!each_part(datatype, buffer, count, [&](const void* part) { place.add(part); })) {
    place.add(buffer);
  }
  return place.place();
}

}  // namespace

CountedMemory find_counted_memory(const ucp_request_param_t* param, const void* buffer,
                                  std::size_t count) {
  if (!layer_on() || buffer == nullptr || count == 0) return kNotCounted;
  log::Lane* lane = log::lane();
  if (lane == nullptr) return kUnknownPlace;
  const DataPlace place =
      place_of_data(*lane, *reinterpret_cast<const RequestParam*>(param), buffer, count);
  switch (place.kind) {
    case DataPlace::Kind::host:
      return kNotCounted;
    case DataPlace::Kind::managed:
      return place.device != 0 ? log::kManagedMemory | place.device : kUnknownPlace;
    default:
      return place.device;
  }
}

void count_unseen_receive(CountedMemory memory) {
  log::detail::count_unplaced(
      log::counter_key(log::CounterKind::gpu, 0, memory | log::kDataReceived), 1, 0);
}

}  // namespace uctrace::ucp
