// OTF2's names for MPI functions. Only otf2*.cpp include this.
#pragma once

#include <otf2/otf2.h>

#include <optional>
#include <string_view>

#include "log-merger/exports/otf2_archive.hpp"
#include "log-merger/model/partition_rows.hpp"

namespace uctrace::exports {

OTF2_RegionRole role_of(std::string_view function, Layer layer);

// The collective operation of `function`, whether this blocks, begins it or makes a request for it.
std::optional<OTF2_CollectiveOp> collective_of(std::string_view function);

// As in table 1 of the paper (log-merger/model/partition_rows.hpp): "PsendInit".
const char* paper_name_of(PartitionEventKind kind);

// Whether data are available, or may be reused, when the call returns.
bool is_blocking(std::string_view function);
bool makes_partitions_ready(std::string_view function);

}  // namespace uctrace::exports
