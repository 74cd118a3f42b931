// Whether the profile of a run contains everything exactly once: summing calls and messages by key
// must lose none.
#pragma once

#include <vector>

#include "log-merger/summaries/profile.hpp"

namespace uctrace {

std::vector<Identity> profile_identities(const Run& run, const Profile& profile);

}  // namespace uctrace
