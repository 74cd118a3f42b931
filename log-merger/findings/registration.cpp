// The cost of memory registration.
#include <fmt/format.h>

#include "log-merger/findings/rules.hpp"
#include "log-merger/model/quantities.hpp"
#include "log-merger/summaries/registrations.hpp"

namespace uctrace::findings {
namespace {

constexpr double kLeastRegistrationShare = 0.05;  // of the time of all ranks
constexpr double kLeastRegistrationNs = 1e6;

}  // namespace

void registration_is_long(const Facts& facts, Found& found) {
  const Run& run = facts.run;
  double ns = 0;
  std::uint64_t calls = 0, first_uses = 0, registrations = 0;
  const RegistrationSum* longest = nullptr;
  for (const RegistrationSum& sum : run.registration_sums) {
    ns += static_cast<double>(sum.for_messages_ns);
    calls += sum.calls;
    registrations += sum.registrations;
    first_uses += sum.first_uses;
    if (longest == nullptr || sum.for_messages_ns > longest->for_messages_ns) longest = &sum;
  }
  const double share = facts.share_of_time(ns);
  if (longest == nullptr || ns < kLeastRegistrationNs || share < kLeastRegistrationShare) return;
  const bool comes_again = first_uses * 2 < registrations;
  found.push_back(
      {.rule = "registration-is-long",
       .what = fmt::format(
           "For messages, {} ({:.0f} % of the time of all ranks) went into calls that make memory "
           "known to others, most of it in {} with {}; {} of {} registrations were the first of "
           "their memory",
           time_text(ns), 100 * share, run.texts[longest->function],
           longest->memory_domain == kNoText ? "UCP" : run.texts[longest->memory_domain],
           first_uses, registrations),
       .advice = comes_again
                     ? "the same memory is registered again and again: keep buffers instead "
                       "of freeing them, and see that UCX may keep registrations "
                       "(UCX_RCACHE_ENABLE, UCX_MEM_EVENTS=y)"
                     : "use each buffer more than once, or map it before (ucp_mem_map, "
                       "MPI_Win_allocate), so that no message has to wait for it",
       .command = "report --by registration",
       .evidence = {{"calls", calls},
                    {"registrations", registrations},
                    {"first_uses", first_uses},
                    {"for_messages_ns", ns}},
       .share = share});
}

}  // namespace uctrace::findings
