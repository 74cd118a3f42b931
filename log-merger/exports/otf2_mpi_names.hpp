// What OTF2 calls what MPI functions do. Only otf2*.cpp include this.
#pragma once

#include <otf2/otf2.h>

#include <optional>
#include <string_view>

#include "log-merger/exports/otf2_archive.hpp"
#include "log-merger/model/partition_rows.hpp"

namespace uctrace::exports {

OTF2_RegionRole role_of(std::string_view function, Layer layer);

// Of a collective operation, whether `function` is blocking, begins it or makes a request of it.
std::optional<OTF2_CollectiveOp> collective_of(std::string_view function);

// As table 1 of the paper (log-merger/model/partition_rows.hpp) has it: "PsendInit".
const char* paper_name_of(PartitionEventKind kind);

// Whether data are at hand, or may be used again, when the call returns.
bool is_blocking(std::string_view function);
bool makes_partitions_ready(std::string_view function);

}  // namespace uctrace::exports
