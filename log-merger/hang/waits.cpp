#include "log-merger/hang/waits.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "log-merger/hang/rank_words.hpp"
#include "log-merger/model/mpi_names.hpp"
#include "log-merger/model/quantities.hpp"
#include "log-merger/mpi/open_calls.hpp"
#include "log-merger/mpi/tag_layout.hpp"

namespace uctrace::merge {

namespace {

bool is_message(const std::string& base) {
  return base == "send" || base == "ssend" || base == "rsend" || base == "recv" ||
         base == "mrecv" || base == "sendrecv" || base == "sendrecv_replace";
}

// It only begins something, or is over without anybody else.
bool is_local(const MpiName& name) {
  return name.nonblocking || name.persistent || name.base == "start" || name.base == "startall" ||
         name.base == "bsend" || name.base.starts_with("pready");
}

std::string on_comm(const std::string& name) { return name.empty() ? "" : " on " + name; }

std::string with_tag(std::int32_t tag) {
  return tag == log::MpiCall::kAny ? " with any tag" : fmt::format(" with tag {}", tag);
}

}  // namespace

WaitFinder::WaitFinder(const Job& job, const Sitters& sitters)
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
    const auto asked = operations_.find(op.asked_by);
    if (asked == operations_.end()) continue;
    asked->second.known = true;
    const bool two_sided = op.is(log::UcpFamily::tag_send) || op.is(log::UcpFamily::tag_receive);
    if (two_sided && !op.ended) asked->second.open.push_back(index);
  }
}

const RequestTable& WaitFinder::requests_of(ProcessIndex process) {
  const auto found = requests_.find(process);
  if (found != requests_.end()) return found->second;
  return requests_.try_emplace(process, job_, job_.logs[process], uses_).first->second;
}

bool WaitFinder::has_ucp(ProcessIndex process) const {
  const auto ucp = static_cast<std::size_t>(log::Layer::ucp);
  return job_.logs[process].file.page().layers[ucp] == log::LayerState::on;
}

std::string WaitFinder::ranks(const RankGroup& group, bool any) const {
  return rank_words(job_, group, any);
}

// --- messages ------------------------------------------------------------------------------------

void WaitFinder::add_wanted(WantedMessage wanted, std::string unsure, Waiting& waiting) {
  OpenWait wait;
  wait.kind = "message";
  wait.text = fmt::format("a message from {}{}{}", ranks(*wanted.sources, wanted.any_source),
                          with_tag(wanted.tag), on_comm(comm_name(job_, wanted.at, wanted.comm)));
  wait.of = wanted.sources;
  wait.any = wanted.any_source;
  wait.unsure = std::move(unsure);
  wait.asked_by = wanted.asked_by;
  wait.message = std::move(wanted);
  waiting.waits.push_back(std::move(wait));
}

void WaitFinder::add_receive(UcpIndex index, Waiting& waiting) {
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
    // Of exchanges, collective operations and requests that were started the tag of UCP tells.
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
  wanted.sources = wanted.any_source ? members_.others(wanted.at, wanted.comm)
                                     : members_.addressed(wanted.at, wanted.comm, source);
  add_wanted(std::move(wanted), "", waiting);
}

void WaitFinder::add_send(UcpIndex index, Waiting& waiting) {
  const UcpOp& send = job_.ucp[index];
  if (send.partner != kNone) {
    waiting.on_its_way = "the message that it sends was received";
    return;
  }
  auto receiver = std::make_shared<RankGroup>();
  if (send.peer_process == kNone) {
    receiver->complete = false;
  } else {
    receiver->processes.push_back(send.peer_process);
  }
  const bool posted = unmatched_.receive_for(index) != kNone;
  if (posted && in_call_[send.peer_process]) {
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

void WaitFinder::add_operations(CallIndex asked_by, Waiting& waiting) {
  for (const UcpIndex index : operations_[asked_by].open) {
    const UcpOp& op = job_.ucp[index];
    if (op.start_ns > sitters_.instants.common_ns) continue;  // what was then is not known
    op.is(log::UcpFamily::tag_send) ? add_send(index, waiting) : add_receive(index, waiting);
  }
}

// A call, or one that made a request, of which no operation is known. (A message to itself is none
// of UCP's in some libraries.)
void WaitFinder::add_message_call(CallIndex index, Waiting& waiting) {
  const MpiCall& made = call(index);
  const std::string base = parse_mpi_name(function(index)).base;
  if (made.peer == log::MpiCall::kNull) return;
  if (made.peer == log::MpiCall::kNone || made.comm == kNone) {
    waiting.unknown = fmt::format("whom {} is about is not recorded", function(index));
    return;
  }
  const bool probes = base == "probe" || base == "mprobe";
  std::string unsure = !has_ucp(made.process) ? "operations of UCP were not recorded"
                       : probes               ? ""
                                              : "its operation of UCP is not known";
  WantedMessage wanted;
  wanted.at = made.process;
  wanted.comm = made.comm;
  wanted.any_source = made.peer == log::MpiCall::kAny;
  wanted.sources = wanted.any_source ? members_.others(made.process, made.comm)
                                     : members_.addressed(made.process, made.comm, made.peer);
  wanted.tag = made.tag;
  wanted.asked_by = index;
  wanted.since_ns = made.start_ns;
  if (base == "recv" || probes) {
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

// --- requests ------------------------------------------------------------------------------------

void WaitFinder::add_requests(CallIndex index, Waiting& waiting) {
  const std::string base = parse_mpi_name(function(index)).base;
  waiting.any = base == "waitany" || base == "waitsome" || base == "testany" || base == "testsome";
  const RequestTable& requests = requests_of(call(index).process);
  const std::vector<std::uint64_t> given = requests.given(index);
  if (given.empty()) {
    waiting.unknown = "which requests it was given is not recorded";
    return;
  }
  bool one_is_over = false;
  for (const CallIndex maker : requests.makers(index, given)) {
    if (maker == kNone) {
      waiting.unknown = "which call made one of its requests is not recorded";
      continue;
    }
    const CallIndex starter = requests.starter(maker, call(index).start_tick);
    const CallIndex asked_by = starter != kNone ? starter : maker;
    const std::size_t before = waiting.waits.size();
    if (collective_kind(function(maker)) != CollectiveKind::none) {
      add_collective(maker, waiting);
    } else if (operations_[asked_by].known) {
      add_operations(asked_by, waiting);
    } else if (uses_.makes_persistent(call(maker)) && starter == kNone) {
      continue;  // it was not started
    } else {
      add_message_call(maker, waiting);
    }
    one_is_over = one_is_over || waiting.waits.size() == before;
  }
  if (waiting.any && one_is_over) waiting.waits.clear();
}

// --- collective operations -----------------------------------------------------------------------

void WaitFinder::add_collective(CallIndex index, Waiting& waiting) {
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
  if (kind == CollectiveKind::partial) add_operations(index, waiting);
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

void WaitFinder::find_in_call(const Sitter& sitter, CallIndex index, Waiting& waiting) {
  const MpiName name = parse_mpi_name(function(index));
  const bool polls = sitter.polls > 0;
  if (uses_(call(index)) == RequestUse::waits) {
    if (polls || !only_tests(function(index))) add_requests(index, waiting);
  } else if (name.base == "probe" || name.base == "mprobe") {
    if (polls || !name.nonblocking) add_message_call(index, waiting);
  } else if (is_local(name)) {
    return;
  } else if (is_message(name.base)) {
    operations_[index].known ? add_operations(index, waiting) : add_message_call(index, waiting);
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

Waiting WaitFinder::find(const Sitter& sitter) {
  Waiting waiting;
  const CallIndex index = sitter.polls > 0 ? sitter.polled : sitter.call;
  if (index != kNone && !sitters_.gone[sitter.process]) find_in_call(sitter, index, waiting);
  for (OpenWait& wait : waiting.waits) {
    if (sitter.polls > 0 && wait.unsure.empty()) {
      wait.unsure = "between its calls it may do something else";
    }
  }
  waiting.goes_on = waiting.waits.empty();
  return waiting;
}

}  // namespace uctrace::merge
