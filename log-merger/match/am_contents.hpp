// What the fragments of active messages told of their content: which of the messages that are alike
// by handler and lengths are not the same. Private to the matching.
//
// A handler is called inside an arrival. The arrival's header, with the request id of a rendezvous
// or with a digest of what the program put into the message (event-log/format/ucp_wire.hpp), is
// that of a fragment of the send that it took. So each send whose fragments are all known has a
// *name*, the same for those that cannot be told apart, and a call has that of the sends with its
// fragment.
#pragma once

#include <cstdint>
#include <vector>

#include "log-merger/job/job.hpp"
#include "log-merger/match/match_parts.hpp"

namespace uctrace::merge {

class AmContents {
 public:
  explicit AmContents(const Job& job);

  // A hash of a content. Different contents with one hash, of which there are hardly ever two,
  // count as the same.
  using Name = std::uint64_t;
  static constexpr Name kUnknown = 0;  // any

  // Of a UCP operation.
  Name name_of(UcpIndex op) const;

  // Sends to one handler with the same lengths, and its calls, laid apart by their names where that
  // is certain: each send of a part was taken by a call of this part, if by any. `all_recorded`:
  // none of those that belong to the group is missing by the user's wish.
  static std::vector<Group> apart(const Group& group, bool all_recorded);

 private:
  static constexpr Name kNotSent = 1;
  // What the fragments of a send tell together.
  struct Told {
    Name name = kUnknown;  // the content of the first
    std::uint32_t fragments = 0;
    bool all_known = true;
    std::uint64_t bytes = 0;
  };
  // A fragment of a send, by its content.
  struct Posted {
    Name content;
    UcpIndex send;
  };
  struct SentAs {
    Name content, name;
  };

  static Name content_of(std::uint8_t am_id, const HeaderWords& header);
  std::vector<Told> read_fragments(const ProcessRows& rows, std::vector<Posted>& posted) const;
  void name_sends();
  void name_sends(const ProcessRows& rows, std::vector<Posted>& posted);
  void name_calls(RowSpan rows);
  Name sent_as(Name content) const;

  const Job& job_;
  std::vector<SentAs> sent_as_;  // by the content of a fragment: the name of its sends
  ByIndex<UcpOp, Name> names_;   // empty: there is no active message
};

}  // namespace uctrace::merge
