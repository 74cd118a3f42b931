// Tag matching by the interface. Posted receives wait here in order; a message without a match is
// passed up at once and never kept.
#include <algorithm>
#include <cstring>
#include <vector>

#include "transport.hpp"

namespace scripted {

namespace {

std::uint64_t total_bytes(const uct_iov_t* iov, std::size_t count) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < count; ++i) bytes += iov[i].length * iov[i].count;
  return bytes;
}

// --- sending -------------------------------------------------------------------------------------

ucs_status_t send_eager(Endpoint& endpoint, uct_tag_t tag, std::uint64_t immediate,
                        const std::vector<unsigned char>& data) {
  endpoint.inbox->push({.kind = Kind::tag_eager,
                        .bytes = static_cast<std::uint32_t>(data.size()),
                        .tag = tag,
                        .immediate = immediate},
                       data.data());
  return UCS_OK;
}

ucs_status_t eager_short(uct_ep_h ep, uct_tag_t tag, const void* data, std::size_t length) {
  Call call{.operation = Operation::tag_eager_short, .bytes = length};
  Endpoint& endpoint = endpoint_of(ep);
  return post(endpoint, call, [&](std::uint64_t&) {
    if (!peer_has_room(endpoint)) return UCS_ERR_NO_RESOURCE;
    const auto* first = static_cast<const unsigned char*>(data);
    return send_eager(endpoint, tag, 0, {first, first + length});
  });
}

ssize_t eager_bcopy(uct_ep_h ep, uct_tag_t tag, std::uint64_t immediate, uct_pack_callback_t pack,
                    void* argument, unsigned) {
  Call call{.operation = Operation::tag_eager_bcopy};
  Endpoint& endpoint = endpoint_of(ep);
  const ucs_status_t status = post(endpoint, call, [&](std::uint64_t& bytes) {
    if (!peer_has_room(endpoint)) return UCS_ERR_NO_RESOURCE;
    std::vector<unsigned char> data(kSlotBytes);
    bytes = pack(data.data(), argument);
    data.resize(bytes);
    return send_eager(endpoint, tag, immediate, data);
  });
  if (status != UCS_OK) return status;
  return static_cast<ssize_t>(call.bytes);
}

ucs_status_t eager_zcopy(uct_ep_h ep, uct_tag_t tag, std::uint64_t immediate, const uct_iov_t* iov,
                         std::size_t count, unsigned, uct_completion_t* completion) {
  Call call{.operation = Operation::tag_eager_zcopy,
            .bytes = total_bytes(iov, count),
            .completion = completion,
            .may_be_late = true,
            .leaves_at_once = true};
  Endpoint& endpoint = endpoint_of(ep);
  return post(endpoint, call, [&](std::uint64_t&) {
    if (!peer_has_room(endpoint)) return UCS_ERR_NO_RESOURCE;
    std::vector<unsigned char> data;
    for (std::size_t i = 0; i < count; ++i) {
      const auto* first = static_cast<const unsigned char*>(iov[i].buffer);
      data.insert(data.end(), first, first + iov[i].length * iov[i].count);
    }
    return send_eager(endpoint, tag, immediate, data);
  });
}

// Complete when the receiver has fetched the data; the script may delay it further or spoil it.
ucs_status_ptr_t rendezvous(uct_ep_h ep, uct_tag_t tag, const void* header, unsigned header_length,
                            const uct_iov_t* iov, std::size_t count, unsigned,
                            uct_completion_t* completion) {
  Endpoint& endpoint = endpoint_of(ep);
  Interface& interface = endpoint.interface();
  oracle::Row row = interface.row(name_of(Operation::tag_rndv_zcopy));
  row.endpoint = ep;
  row.bytes = total_bytes(iov, count);
  row.tracked = completion != nullptr;
  Verdict verdict = endpoint.admit(Operation::tag_rndv_zcopy);
  const bool at_once = verdict.status == UCS_ERR_NO_RESOURCE || verdict.progress == 0;
  row.status = verdict.status != UCS_OK && at_once ? verdict.status
               : !peer_has_room(endpoint)          ? UCS_ERR_NO_RESOURCE
                                                   : UCS_INPROGRESS;
  const std::size_t at = oracle::note(row);
  if (row.status != UCS_INPROGRESS) return UCS_STATUS_PTR(row.status);
  const std::uint64_t serial = ++interface.posted;
  interface.rendezvous.push_back({serial, &endpoint, verdict, completion, at});
  Head head{.kind = Kind::tag_rendezvous,
            .bytes = header_length,
            .tag = tag,
            .address = count > 0 ? reinterpret_cast<std::uint64_t>(iov[0].buffer) : 0,
            .length = row.bytes,
            .operation = serial,
            .sender = interface.inbox->address()};
  if (count > 0 && iov[0].memh != UCT_MEM_HANDLE_NULL) pack_key(iov[0].memh, head.key);
  endpoint.inbox->push(head, header);
  return reinterpret_cast<ucs_status_ptr_t>(serial << 4);  // neither NULL nor an error
}

ucs_status_t cancel_rendezvous(uct_ep_h ep, void* operation) {
  Endpoint& endpoint = endpoint_of(ep);
  Interface& interface = endpoint.interface();
  const std::uint64_t serial = reinterpret_cast<std::uint64_t>(operation) >> 4;
  oracle::Row row = interface.row(name_of(Operation::tag_rndv_cancel));
  row.endpoint = ep;
  oracle::note(row);
  std::erase_if(interface.rendezvous, [&](const OpenRendezvous& open) {
    if (open.serial == serial) oracle::note_completion(open.row, UCS_ERR_CANCELED, false);
    return open.serial == serial;
  });
  return UCS_OK;
}

ucs_status_t request_rendezvous(uct_ep_h ep, uct_tag_t tag, const void* header,
                                unsigned header_length, unsigned) {
  Call call{.operation = Operation::tag_rndv_request, .bytes = header_length};
  Endpoint& endpoint = endpoint_of(ep);
  return post(endpoint, call, [&](std::uint64_t&) {
    if (!peer_has_room(endpoint)) return UCS_ERR_NO_RESOURCE;
    endpoint.inbox->push({.kind = Kind::tag_rendezvous_request, .bytes = header_length, .tag = tag},
                         header);
    return UCS_OK;
  });
}

// --- receiving -----------------------------------------------------------------------------------

ucs_status_t post_receive(uct_iface_h iface, uct_tag_t tag, uct_tag_t mask, const uct_iov_t* iov,
                          std::size_t count, uct_tag_context_t* context) {
  Interface& interface = interface_of(iface);
  oracle::Row row = interface.row(name_of(Operation::tag_recv_zcopy));
  row.bytes = total_bytes(iov, count);
  const Verdict verdict = judge(Operation::tag_recv_zcopy);
  row.status = verdict.status;
  row.tracked = true;
  const std::size_t at = oracle::note(row);
  if (verdict.status == UCS_OK) {
    interface.receives.push_back(
        {tag, mask, count > 0 ? iov[0].buffer : nullptr, row.bytes, context, at});
  }
  return verdict.status;
}

// Unless it is forced, the receive's owner is told, later and from progress.
ucs_status_t cancel_receive(uct_iface_h iface, uct_tag_context_t* context, int force) {
  Interface& interface = interface_of(iface);
  oracle::note(interface.row(name_of(Operation::tag_recv_cancel)));
  const auto found =
      std::find_if(interface.receives.begin(), interface.receives.end(),
                   [&](const PostedReceive& posted) { return posted.context == context; });
  if (found == interface.receives.end()) return UCS_OK;  // a message has taken it
  const std::size_t row = found->row;
  interface.receives.erase(found);
  if (force) {
    oracle::note_completion(row, UCS_ERR_CANCELED, false);
  } else {
    interface.late.push_back({++interface.posted,
                              nullptr,
                              interface.progressed + 1,
                              false,
                              {},
                              [context] {
                                context->completed_cb(context, 0, 0, 0, nullptr, UCS_ERR_CANCELED);
                                return UCS_ERR_CANCELED;
                              },
                              nullptr,
                              row});
  }
  return UCS_OK;
}

std::optional<PostedReceive> take_match(Interface& interface, uct_tag_t tag) {
  auto& posted = interface.receives;
  const auto found = std::find_if(posted.begin(), posted.end(), [&](const PostedReceive& receive) {
    return ((receive.tag ^ tag) & receive.mask) == 0;
  });
  if (found == posted.end()) return std::nullopt;
  const PostedReceive match = *found;
  posted.erase(found);
  return match;
}

void note(Interface& interface, const char* what, std::uint64_t bytes,
          ucs_status_t status = UCS_OK) {
  oracle::Row row = interface.row(what);
  row.bytes = bytes;
  row.status = status;
  oracle::note(row);
}

// Short data is left to the receiver to copy, as a NIC does that writes it into the event itself.
void match_eager(Interface& interface, const PostedReceive& receive, Message& message) {
  constexpr std::size_t kInline = 32;
  const Head& head = message.head;
  uct_tag_context_t* context = receive.context;
  context->tag_consumed_cb(context);
  const bool fits = head.bytes <= receive.bytes;
  const bool is_inline = fits && head.bytes > 0 && head.bytes <= kInline;
  if (fits && !is_inline && head.bytes > 0) {
    std::memcpy(receive.buffer, message.data.data(), head.bytes);
  }
  const ucs_status_t status = fits ? UCS_OK : UCS_ERR_MESSAGE_TRUNCATED;
  note(interface, "tag_completed", head.bytes, status);
  oracle::note_completion(receive.row, status, false);
  context->completed_cb(context, head.tag, head.immediate, head.bytes,
                        is_inline ? message.data.data() : nullptr, status);
}

void tell_fetched(const Head& head) {
  if (const auto sender = Inbox::of_peer(head.sender)) {
    sender->push({.kind = Kind::fetched, .operation = head.operation}, nullptr);
  }
}

void match_rendezvous(Interface& interface, const PostedReceive& receive, const Message& message) {
  const Head& head = message.head;
  uct_tag_context_t* context = receive.context;
  context->tag_consumed_cb(context);
  ucs_status_t status = UCS_ERR_MESSAGE_TRUNCATED;
  if (head.length <= receive.bytes) {
    status = read_peer(head.sender, receive.buffer, head.address, head.length);
  }
  tell_fetched(head);
  note(interface, "tag_completed", head.length, status);
  oracle::note_completion(receive.row, status, false);
  context->completed_cb(context, head.tag, 0, head.length, nullptr, status);
}

void hand_up(Interface& interface, Message& message) {
  const Head& head = message.head;
  if (head.kind == Kind::tag_eager) {
    note(interface, "tag_unexpected_eager", head.bytes);
    void* context = nullptr;
    hand_over(interface, message, [&](void* kept) {
      return interface.on_eager(interface.on_eager_argument, kept, head.bytes,
                                UCT_CB_PARAM_FLAG_FIRST | UCT_CB_PARAM_FLAG_DESC, head.tag,
                                head.immediate, &context);
    });
  } else {
    const bool has_address = head.kind == Kind::tag_rendezvous;
    note(interface, "tag_unexpected_rndv", has_address ? head.length : head.bytes);
    interface.on_rendezvous(interface.on_rendezvous_argument, 0, head.tag, message.data.data(),
                            head.bytes, head.address, head.length,
                            has_address ? head.key : nullptr);
  }
}

void end_rendezvous(Interface& interface, std::uint64_t serial) {
  const auto found =
      std::find_if(interface.rendezvous.begin(), interface.rendezvous.end(),
                   [&](const OpenRendezvous& open) { return open.serial == serial; });
  if (found == interface.rendezvous.end()) return;  // it was cancelled
  const OpenRendezvous open = *found;
  interface.rendezvous.erase(found);
  interface.late.push_back({open.serial,
                            open.endpoint,
                            interface.progressed + open.verdict.progress,
                            false,
                            open.verdict,
                            {},
                            open.completion,
                            open.row});
}

}  // namespace

void receive_tagged(Interface& interface, Message& message) {
  const Head& head = message.head;
  if (head.kind == Kind::fetched) {
    end_rendezvous(interface, head.operation);
    return;
  }
  const std::optional<PostedReceive> receive = take_match(interface, head.tag);
  if (!receive) {
    hand_up(interface, message);
  } else if (head.kind == Kind::tag_eager) {
    match_eager(interface, *receive, message);
  } else if (head.kind == Kind::tag_rendezvous) {
    match_rendezvous(interface, *receive, message);
  } else {
    note(interface, "tag_rndv", head.bytes);
    oracle::note_completion(receive->row, UCS_OK, false);
    receive->context->tag_consumed_cb(receive->context);
    receive->context->rndv_cb(receive->context, head.tag, message.data.data(), head.bytes, UCS_OK,
                              UCT_TAG_RECV_CB_INLINE_DATA);
  }
}

void fill_tag_operations(uct_iface_ops_t& ops) {
  ops.ep_tag_eager_short = eager_short;
  ops.ep_tag_eager_bcopy = eager_bcopy;
  ops.ep_tag_eager_zcopy = eager_zcopy;
  ops.ep_tag_rndv_zcopy = rendezvous;
  ops.ep_tag_rndv_cancel = cancel_rendezvous;
  ops.ep_tag_rndv_request = request_rendezvous;
  ops.iface_tag_recv_zcopy = post_receive;
  ops.iface_tag_recv_cancel = cancel_receive;
}

}  // namespace scripted
