// How long UCX expects messages to take: the formula of ucp_ep_evaluate_perf, of the same numbers.
//
// uctrace does not call that function. In UCX 1.11 to 1.23 it takes no lock, and with
// UCX_UNIFIED_MODE it reads beyond its table of interfaces.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "log-merger/connections/ucp_endpoints.hpp"
#include "log-merger/job/job.hpp"

namespace uctrace::merge {

// What UCX takes for the size of the job. 0 = not known.
struct JobSize {
  std::uint64_t endpoints = 0, processes_of_node = 0;
};

// A message of n bytes takes latency_s + n / bandwidth.
struct Expected {
  double latency_s = 0, bandwidth = 0;  // seconds, and bytes a second
};

// Of one lane. nullopt: the size of the job is not known, or the interface says nothing.
std::optional<Expected> expected_of(const log::InterfaceSpeed& speed, const JobSize& job);

// Makes Run::estimates, after the rows of processes and settings. Of the lanes of an endpoint UCX
// takes the one of the greatest bandwidth; lanes are the UCT endpoints that UCX made during
// ucp_ep_create.
void add_estimates(Job& job, const std::vector<UcpEndpoints>& of_process);

}  // namespace uctrace::merge
