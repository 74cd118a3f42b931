// The faults that the shims recorded, by their short names. Private to log-merger/.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "log-merger/job/job.hpp"

namespace uctrace::merge {

inline constexpr const char* kLayerNames[] = {"uct", "ucp", "mpi", "gpu", "library"};

const char* name_of(log::FaultCode code);
nlohmann::ordered_json faults_json(const Job& job);

}  // namespace uctrace::merge
