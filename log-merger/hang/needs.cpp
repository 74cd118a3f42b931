#include "log-merger/hang/needs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "log-merger/hang/rank_words.hpp"
#include "log-merger/model/mpi_names.hpp"
#include "log-merger/model/quantities.hpp"
#include "log-merger/mpi/mpi_call_kind.hpp"
#include "log-merger/mpi/open_calls.hpp"
#include "log-merger/mpi/tag_layout.hpp"

namespace uctrace::merge {

namespace {

// After this long a call has its operation, if it ever gets one: its thread may have lost its core
// before posting it.
constexpr std::int64_t kOperationAfterNs = 1'000'000'000;

bool is_message(const std::string& base) {
  return base == "send" || base == "ssend" || base == "rsend" || base == "recv" ||
         base == "mrecv" || base == "sendrecv" || base == "sendrecv_replace";
}

// It only begins something, or completes without others.
bool is_local(const MpiName& name) {
  return name.nonblocking || name.persistent || name.base == "start" || name.base == "startall" ||
         name.base == "bsend" || name.base == "abort" || name.base.starts_with("pready");
}

std::string on_comm(const std::string& name) { return name.empty() ? "" : " on " + name; }

std::string with_tag(std::int32_t tag) {
  return tag == log::MpiCall::kAny ? " with any tag" : fmt::format(" with tag {}", tag);
}

}  // namespace

NeedFinder::NeedFinder(const Job& job, const Sitters& sitters)
    : job_(job),
      sitters_(sitters),
      members_(job),
      collectives_(job, members_),
      unmatched_(job, members_),
      uses_(job) {
  for (const Sitter& sitter : sitters.all) {
    in_call_[sitter.process] = in_call_[sitter.process] || sitter.call != kNone;
    const CallIndex index = sitter.polls > 0 ? sitter.polled : sitter.call;
    if (index == kNone) continue;
    operations_[index];
    if (const CallIndex post = post_of(index); post != kNone) told_[post];
    if (uses_(call(index)) != RequestUse::waits) continue;
    const RequestTable& requests = requests_of(sitter.process);
    for (const CallIndex maker : requests.makers(index, requests.given(index))) {
      if (maker == kNone) continue;
      operations_[maker];
      const CallIndex starter = requests.starter(maker, call(index).start_tick);
      if (starter != kNone) operations_[starter];
    }
  }
  for (const UcpIndex index : job.ucp.indexes()) {
    const UcpOp& op = job.ucp[index];
    if (op.asked_by == kNone || op.tool || !op.accepted()) continue;
    note_told(op);
    const auto asked = operations_.find(op.asked_by);
    if (asked == operations_.end()) continue;
    asked->second.known = true;
    const bool two_sided = op.is(log::UcpFamily::tag_send) || op.is(log::UcpFamily::tag_receive);
    if (two_sided) asked->second.all.push_back(index);
  }
  for (std::size_t i = 0; i < job.run.partition_requests.size(); ++i) {
    partition_requests_[job.run.partition_requests[i].call] = i;
  }
  for (std::size_t i = 0; i < job.run.partition_operations.size(); ++i) {
    newest_uses_[job.run.partition_operations[i].request] = i;  // by their numbers
  }
}

const RequestTable& NeedFinder::requests_of(ProcessIndex process) {
  const auto found = requests_.find(process);
  if (found != requests_.end()) return found->second;
  return requests_.try_emplace(process, job_, job_.logs[process], uses_).first->second;
}

bool NeedFinder::has_ucp(ProcessIndex process) const {
  const auto ucp = static_cast<std::size_t>(log::Layer::ucp);
  return job_.logs[process].file.page().layers[ucp] == log::LayerState::on;
}

std::string NeedFinder::ranks(const RankGroup& group, bool any) const {
  return rank_words(job_, group, any);
}

// --- messages ------------------------------------------------------------------------------------

void NeedFinder::add_wanted(WantedMessage wanted, std::string unsure, Waiting& waiting) {
  OpenWait wait;
  wait.kind = "message";
  wait.text = fmt::format("a message from {}{}{}",
                          wanted.any_source ? "any rank" : ranks(*wanted.sources, false),
                          with_tag(wanted.tag), on_comm(comm_name(job_, wanted.at, wanted.comm)));
  wait.of = wanted.sources;
  // Another thread of the process may send to it.
  const Sitters::Places own = sitters_.of[wanted.at];
  const bool alone = own.end - own.begin <= 1;
  if (wanted.any_source && alone && wait.of->contains(wanted.at)) wait.but = wanted.at;
  wait.any = wanted.any_source;
  wait.unsure = std::move(unsure);
  wait.asked_by = wanted.asked_by;
  wait.message = std::move(wanted);
  waiting.waits.push_back(std::move(wait));
}

void NeedFinder::add_receive(UcpIndex index, Waiting& waiting) {
  const UcpOp& receive = job_.ucp[index];
  if (unmatched_.is_on_its_way(index)) {
    waiting.on_its_way = "the message that it receives was sent, and is on its way";
    return;
  }
  WantedMessage wanted;
  wanted.at = receive.process;
  wanted.receive = index;
  wanted.asked_by = receive.asked_by;
  wanted.since_ns = receive.start_ns;
  const MpiCall& asked = call(receive.asked_by);
  wanted.comm = receive.comm != kNone ? receive.comm : asked.comm;
  std::int32_t source = asked.peer;
  wanted.tag = asked.tag;
  const std::string base = parse_mpi_name(function(receive.asked_by)).base;
  if (base != "recv" || asked.peer == log::MpiCall::kNone) {
    // For exchanges, collective operations and started requests the UCP tag tells.
    const MpiFlavour flavour = job_.logs[receive.process].flavour;
    const auto low = decode_tag(flavour, receive.tag & receive.tag_mask),
               high = decode_tag(flavour, receive.tag | ~receive.tag_mask);
    if (!low || !high) {
      waiting.unknown = "its library's tag does not say whom a receive is from";
      return;
    }
    source = low->source == high->source ? low->source : log::MpiCall::kAny;
    wanted.tag = low->tag == high->tag ? low->tag : log::MpiCall::kAny;
  }
  wanted.any_source = source == log::MpiCall::kAny;
  wanted.sources = wanted.any_source ? members_.sources(wanted.at, wanted.comm)
                                     : members_.addressed(wanted.at, wanted.comm, source);
  add_wanted(std::move(wanted), "", waiting);
}

void NeedFinder::add_send(UcpIndex index, Waiting& waiting) {
  const UcpOp& send = job_.ucp[index];
  if (send.partner != kNone) {
    waiting.on_its_way = "the message that it sends was received";
    return;
  }
  auto receiver = std::make_shared<RankGroup>();
  if (send.peer_process == kNone || !is_rank(job_, send.peer_process)) {
    receiver->complete = false;
  } else {
    receiver->processes.push_back(send.peer_process);
  }
  const bool posted = unmatched_.receive_for(index) != kNone;
  if (posted && in_call_[send.peer_process] && !sitters_.silent[send.peer_process]) {
    waiting.on_its_way = "the message that it sends is on its way to a receive that is posted";
    return;
  }
  const bool synchronous = send.function == log::UcpFunction::tag_send_sync_nb ||
                           send.function == log::UcpFunction::tag_send_sync_nbx;
  const bool announced = send.message != kNone &&
                         job_.run.texts[job_.run.messages[send.message.place()].protocol].find(
                             "rndv") != std::string::npos;
  const SentMessage* const sent = unmatched_.message_of(index);
  OpenWait wait;
  wait.kind = "receiver";
  wait.text = fmt::format("{} to {} its message of {}{}{}", ranks(*receiver, false),
                          posted ? "call MPI again and take" : "receive", format_bytes(send.bytes),
                          sent != nullptr && sent->by_program ? with_tag(sent->tag) : "",
                          on_comm(comm_name(job_, send.process, send.comm)));
  wait.of = std::move(receiver);
  wait.asked_by = send.asked_by;
  if (!synchronous && !announced) {
    wait.unsure = "the message may also wait for room, or for a connection";
  }
  waiting.waits.push_back(std::move(wait));
}

void NeedFinder::add_operations(const std::vector<UcpIndex>& operations, Waiting& waiting) {
  for (const UcpIndex index : operations) {
    const UcpOp& op = job_.ucp[index];
    // Events after the instant are not known.
    if (op.ended || op.start_ns > sitters_.instants.common_ns) continue;
    op.is(log::UcpFamily::tag_send) ? add_send(index, waiting) : add_receive(index, waiting);
  }
}

// A call, or a call that made a request, without a known operation. (In some libraries a message to
// self does not use UCP.)
void NeedFinder::add_message_call(CallIndex index, Waiting& waiting) {
  const MpiCall& made = call(index);
  const CallTraits traits = call_traits(function(index));
  const std::string base = parse_mpi_name(function(index)).base;
  if (made.peer == log::MpiCall::kNull) return;
  if (made.peer == log::MpiCall::kNone || made.comm == kNone) {
    waiting.unknown = fmt::format("whom {} is about is not recorded", function(index));
    return;
  }
  const bool probes = base == "probe" || base == "mprobe";
  const bool is_new = last_instant(job_.logs[made.process]) - made.start_ns < kOperationAfterNs;
  if (has_ucp(made.process) && !probes && made.open && is_new) {
    waiting.unknown = fmt::format("{} has no operation of UCP yet", function(index));
    return;
  }
  std::string unsure = !has_ucp(made.process) ? "operations of UCP were not recorded"
                       : probes               ? ""
                                              : "its operation of UCP is not known";
  WantedMessage wanted;
  wanted.at = made.process;
  wanted.comm = made.comm;
  wanted.any_source = made.peer == log::MpiCall::kAny;
  wanted.sources = wanted.any_source ? members_.sources(made.process, made.comm)
                                     : members_.addressed(made.process, made.comm, made.peer);
  wanted.tag = made.tag;
  wanted.asked_by = index;
  wanted.since_ns = made.start_ns;
  if ((traits.receives && !traits.sends) || probes) {
    if (unmatched_.would_find(wanted)) {
      waiting.on_its_way = "a message that it would take was sent";
    } else {
      add_wanted(std::move(wanted), std::move(unsure), waiting);
    }
    return;
  }
  OpenWait wait;
  wait.kind = "receiver";
  wait.of = wanted.sources;
  wait.text = fmt::format("{} to receive its message{}{}", ranks(*wait.of, false),
                          with_tag(made.tag), on_comm(comm_name(job_, made.process, made.comm)));
  wait.asked_by = index;
  wait.unsure = std::move(unsure);
  waiting.waits.push_back(std::move(wait));
}

// --- collective operations -----------------------------------------------------------------------

void NeedFinder::add_collective(CallIndex index, Waiting& waiting) {
  const MpiCall& made = call(index);
  const CollectiveKind kind = collective_kind(function(index));
  if (made.comm == kNone || members_.instance(made.process, made.comm) == kNone) {
    waiting.unknown = fmt::format("which communicator {} is on is not known", function(index));
    return;
  }
  const CollectiveState& state = collectives_.state_of(index);
  const std::string place = fmt::format("the {} collective call{}", ordinal(state.number),
                                        on_comm(comm_name(job_, made.process, made.comm)));
  for (const OtherOperation& other : state.others) {
    OpenWait wait;
    wait.kind = "collective";
    wait.text = fmt::format("{} to enter {}, {}, where {} in {}", ranks(*other.members, false),
                            function(index), place,
                            other.members->size() == 1 ? "it is" : "they are", other.function);
    wait.of = other.members;
    wait.never = true;
    wait.unsure = state.unsure;
    wait.asked_by = index;
    waiting.waits.push_back(std::move(wait));
  }
  const std::size_t before = waiting.waits.size();
  if (kind == CollectiveKind::partial) add_operations(operations_[index].all, waiting);
  const bool told = waiting.waits.size() > before || !waiting.on_its_way.empty();
  if (state.not_entered->empty() || told) return;
  OpenWait wait;
  wait.kind = "collective";
  wait.any = kind == CollectiveKind::partial;
  wait.text = fmt::format("{} to enter {}, {}", ranks(*state.not_entered, wait.any),
                          function(index), place);
  wait.of = state.not_entered;
  wait.unsure = state.unsure;
  if (wait.any && wait.unsure.empty()) {
    wait.unsure = "which of the others it needs depends on how its library does it";
  }
  wait.asked_by = index;
  waiting.waits.push_back(std::move(wait));
}

// --- a thread ------------------------------------------------------------------------------------

void NeedFinder::find_in_call(const Sitter& sitter, CallIndex index, Waiting& waiting) {
  const MpiName name = parse_mpi_name(function(index));
  const bool polls = sitter.polls > 0;
  if (uses_(call(index)) == RequestUse::waits) {
    if (polls || !only_tests(function(index))) add_requests(index, waiting);
  } else if (name.base == "probe" || name.base == "mprobe") {
    if (polls || !name.nonblocking) add_message_call(index, waiting);
  } else if (is_local(name)) {
    return;
  } else if (is_message(name.base)) {
    const Operations& own = operations_[index];
    own.known ? add_operations(own.all, waiting) : add_message_call(index, waiting);
  } else if (name.base == "finalize") {
    add_finalize(index, waiting);
  } else if (collective_kind(function(index)) != CollectiveKind::none) {
    add_collective(index, waiting);
  } else if (call(index).on_window) {
    add_window(index, waiting);
  } else {
    waiting.unknown = fmt::format("whom {} waits for is not recorded", function(index));
  }
}

// Threads that have not called MPI yet are not in the logs.
std::string NeedFinder::other_threads(ProcessIndex process) const {
  switch (job_.logs[process].file.page().thread_level) {
    case log::ThreadLevel::multiple:
      return "MPI_THREAD_MULTIPLE: another thread may act for it";
    case log::ThreadLevel::unknown:
      return "whether several threads may call MPI is not in its log: another may act for it";
    default:
      return "";
  }
}

Waiting NeedFinder::find(const Sitter& sitter) {
  Waiting waiting;
  const CallIndex index = sitter.polls > 0 ? sitter.polled : sitter.call;
  if (index != kNone && !sitters_.gone[sitter.process]) find_in_call(sitter, index, waiting);
  const std::string threads = other_threads(sitter.process);
  for (OpenWait& wait : waiting.waits) {
    if (!wait.unsure.empty()) continue;
    wait.unsure = sitter.polls > 0 ? "between its calls it may do something else" : threads;
  }
  waiting.goes_on = waiting.waits.empty();
  return waiting;
}

}  // namespace uctrace::merge
