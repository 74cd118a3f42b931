// The rules, one file per group. Each adds its findings. Thresholds are heuristic, and stated in
// docs/findings.md.
#pragma once

#include <vector>

#include "log-merger/findings/facts.hpp"
#include "log-merger/findings/finding.hpp"

namespace uctrace::findings {

using Found = std::vector<Finding>;

// recording.cpp: can the numbers be trusted
void job_without_ucx(const Facts& facts, Found& found);
void identities_violated(const Facts& facts, Found& found);
void records_dropped(const Facts& facts, Found& found);
void messages_unmatched(const Facts& facts, Found& found);
void clocks_contradict(const Facts& facts, Found& found);

// paths.cpp: the path of data
void tcp_within_host(const Facts& facts, Found& found);
void no_single_copy(const Facts& facts, Found& found);
void staged_through_host(const Facts& facts, Found& found);
void memory_mistaken(const Facts& facts, Found& found);

// cards.cpp: network cards of hosts
void one_card_carries_most(const Facts& facts, Found& found);
void card_far_from_gpu(const Facts& facts, Found& found);

// protocols.cpp: the cost of messages by protocol and size
void switch_is_costly(const Facts& facts, Found& found);
void first_messages_are_late(const Facts& facts, Found& found);

// registration.cpp and connections.cpp: work before data can move
void registration_is_long(const Facts& facts, Found& found);
void connections_are_long(const Facts& facts, Found& found);

// program.cpp: the program itself
void many_tiny_messages(const Facts& facts, Found& found);
void ranks_unbalanced(const Facts& facts, Found& found);
void rank_makes_others_wait(const Facts& facts, Found& found);

// settings.cpp
void settings_differ(const Facts& facts, Found& found);

}  // namespace uctrace::findings
