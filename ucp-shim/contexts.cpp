#include "ucp-shim/contexts.hpp"

#include "interpose/export.hpp"
#include "interpose/newest.hpp"
#include "interpose/original.hpp"

namespace uctrace::ucp {

namespace {

using interpose::Original;

constinit Original<decltype(&::ucp_init_version)> original_init{"ucp_init_version"};

constinit interpose::Newest<ucp_context_h, JobSize, 64> job_sizes;

std::uint32_t told_number(std::size_t number) {
  return number < UINT32_MAX ? static_cast<std::uint32_t>(number) : UINT32_MAX;
}

JobSize job_size_in(const ucp_params_t& params) {
  JobSize job{1, 1};
  if ((params.field_mask & UCP_PARAM_FIELD_ESTIMATED_NUM_EPS) != 0) {
    job.endpoints = told_number(params.estimated_num_eps);
  }
  if ((params.field_mask & UCP_PARAM_FIELD_ESTIMATED_NUM_PPN) != 0) {
    job.processes_of_node = told_number(params.estimated_num_ppn);
  }
  return job;
}

}  // namespace

JobSize job_size_of(ucp_context_h handle) { return job_sizes.of(handle); }

}  // namespace uctrace::ucp

using namespace uctrace;

UCTRACE_EXPORT ucs_status_t ucp_init_version(unsigned api_major, unsigned api_minor,
                                             const ucp_params_t* params, const ucp_config_t* config,
                                             ucp_context_h* context) {
  const void* caller = __builtin_return_address(0);
  interpose::look_for_patched_ucx();
  // Before the call: the parameters belong to the program.
  const ucp::JobSize job = ucp::job_size_in(*params);
  const ucs_status_t status =
      ucp::original_init.get(caller)(api_major, api_minor, params, config, context);
  if (status == UCS_OK) ucp::job_sizes.remember(*context, job);
  return status;
}
