// The assumptions and limits of a simulation, in words. Private to the simulation.
#pragma once

#include <string>
#include <vector>

#include "log-merger/replay/replay.hpp"
#include "log-merger/simulate/changed_times.hpp"
#include "log-merger/simulate/simulation.hpp"

namespace uctrace {

std::vector<std::string> hypotheses_in_words(const Hypotheses& hypotheses,
                                             const ChangedTimes& times);
std::vector<std::string> assumptions_of(const RecordedCalls& recorded,
                                        const Hypotheses& hypotheses);

// `replayed` as it was.
std::vector<NotReplayed> not_replayed(const RowSource& source, const RecordedCalls& recorded,
                                      const replay::Replayed& replayed,
                                      const Hypotheses& hypotheses, const ChangedTimes& times);

}  // namespace uctrace
