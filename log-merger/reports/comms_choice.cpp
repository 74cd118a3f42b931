#include "log-merger/reports/comms_choice.hpp"

#include "log-merger/summaries/filter.hpp"
#include "log-merger/summaries/names.hpp"

namespace uctrace {

CommsChoice::CommsChoice(const RowSource& source, const CommsFilter& filter)
    : run_(source.run()), from_ns_(filter.from_ns), to_ns_(filter.to_ns) {
  require_span(run_, from_ns_, to_ns_);
  const Run& run = source.run();
  RowsByName comms = communicators_by_name(run);
  comms.emplace("-", -1);
  comms_ = choose(filter.comm, "comm", comms);
  processes_ = choose(filter.rank, "rank", processes_by_rank(run));
  if (const auto on_hosts = choose(filter.host, "host", processes_by_host(run))) {
    if (processes_) {
      std::erase_if(*processes_,
                    [&](std::int32_t process) { return !on_hosts->contains(process); });
    } else {
      processes_ = on_hosts;
    }
  }
  if (!filter.mpi.empty()) {
    functions_ = choose(filter.mpi, "mpi", called_functions_by_name(source));
  }
  if (!filter.kind.empty()) kinds_ = std::set<std::string>(filter.kind.begin(), filter.kind.end());
}

MpiKind CommsChoice::kind_of(TextId function) {
  const auto [place, fresh] = kind_of_function_.try_emplace(function, MpiKind::management);
  if (fresh) place->second = parse_mpi_name(run_.texts[function]).kind;
  return place->second;
}

bool CommsChoice::starts_or_ends_mpi(TextId function) {
  const auto [place, fresh] = starts_or_ends_mpi_.try_emplace(function, false);
  if (fresh) place->second = uctrace::starts_or_ends_mpi(run_.texts[function]);
  return place->second;
}

bool CommsChoice::accepts(const CommsSubject& subject) {
  if (comms_ && !comms_->contains(subject.communicator)) return false;
  if (processes_ && !processes_->contains(subject.process)) return false;
  if (functions_ && !functions_->contains(subject.function)) return false;
  if (kinds_ && !kinds_->contains(name_of(kind_of(subject.function)))) return false;
  if (!from_ns_ && !to_ns_) return true;
  const auto start = static_cast<std::uint64_t>(subject.start_ns);
  return subject.start_ns >= 0 && start >= from_ns_.value_or(0) &&
         start < to_ns_.value_or(UINT64_MAX);
}

}  // namespace uctrace
