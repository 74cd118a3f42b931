// The tables of the store that tell of GPUs, their memory, and network cards.
#pragma once

#include <tuple>

#include "log-merger/model/model.hpp"
#include "log-merger/store/store_columns.hpp"

namespace uctrace::store {

template <>
struct Table<Gpu> {
  static constexpr const char* name = "gpus";
  static constexpr auto columns = std::tuple{
      column("host", &Gpu::host, "host name", Unit::text),
      column("uuid", &Gpu::uuid, "GPU-..., of a part of a GPU (MIG) MIG-...", Unit::text),
      column("gpu_uuid", &Gpu::gpu_uuid, "of the whole GPU", Unit::text),
      column("bus", &Gpu::bus, "PCI address", Unit::text),
      column("name", &Gpu::name, "as its driver calls it", Unit::text),
      column("vendor", &Gpu::vendor, "cuda, rocm or level_zero", Unit::text),
      column("memory_bytes", &Gpu::memory_bytes, "all its memory", Unit::bytes),
      column("numa", &Gpu::numa, "node of memory that it is at, -1 = not known"),
  };
};

template <>
struct Table<Nic> {
  static constexpr const char* name = "nics";
  static constexpr auto columns = std::tuple{
      column("host", &Nic::host, "host name", Unit::text),
      column("device", &Nic::device, "as UCT names it", Unit::text),
      column("bus", &Nic::bus, "PCI address, none = on no PCI bus, or not known", Unit::text),
      column("numa", &Nic::numa, "node of memory that it is at, -1 = not known"),
  };
};

template <>
struct Table<GpuNic> {
  using Row = GpuNic;
  static constexpr const char* name = "gpu_nic";
  static constexpr auto columns = std::tuple{
      column("host", &Row::host, "host name", Unit::text),
      column("memory", &Row::memory, "memory of that host"),
      column("gpu", &Row::gpu, "whose memory", Unit::gpu),
      column("nic", &Row::nic, "network card, -1 = not known", Unit::nic),
      column("distance", &Row::distance, "what is between the GPU and the card"),
      column("numa_distance", &Row::numa_distance,
             "of their NUMA nodes, 10 = the same one; -1 = not known"),
      column("out_operations", &Row::out_operations, "from the memory to the card"),
      column("out_bytes", &Row::out_bytes, "payload of these", Unit::bytes),
      column("in_operations", &Row::in_operations, "from the card to the memory"),
      column("in_bytes", &Row::in_bytes, "payload of these", Unit::bytes),
      column("out_staged_bytes", &Row::out_staged_bytes,
             "payload from the GPU that the card took from the host's memory", Unit::bytes),
      column("in_staged_bytes", &Row::in_staged_bytes,
             "payload to the GPU that the card brought to the host's memory", Unit::bytes),
  };
};

template <>
struct Table<DeviceMemoryRow> {
  using Row = DeviceMemoryRow;
  static constexpr const char* name = "device_memory";
  static constexpr auto columns = std::tuple{
      column("process", &Row::process, "process whose address it is", Unit::process),
      column("gpu", &Row::gpu, "where it is, -1 = on the host, or not known", Unit::gpu),
      column("kind", &Row::kind, "device, pool, managed, mapped, mapped_host, pinned or imported",
             Unit::text),
      column("allocated", &Row::allocated, "1 = from_ns is when it was allocated"),
      column("address", &Row::address, "where it begins", Unit::address),
      column("bytes", &Row::bytes, "0 = its extent is not known", Unit::bytes),
      column("from_ns", &Row::from_ns, "it was met, or allocated", Unit::ns),
      column("alive_ns", &Row::alive_ns, "last known to be there, -1 = to the end", Unit::ns),
      column("to_ns", &Row::to_ns, "known to be over, -1 = it was there to the end", Unit::ns),
  };
};

}  // namespace uctrace::store
