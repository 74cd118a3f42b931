// Whether the profile of a run has all of the run, each part once: the profile sums calls and
// messages by what they agree in, which loses none.
#pragma once

#include <vector>

#include "log-merger/summaries/profile.hpp"

namespace uctrace {

std::vector<Identity> profile_identities(const Run& run, const Profile& profile);

}  // namespace uctrace
