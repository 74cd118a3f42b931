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
#include <map>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "log-merger/job/job.hpp"
#include "log-merger/match/match_parts.hpp"

namespace uctrace::merge {

class AmContents {
 public:
  explicit AmContents(const Job& job);

  // Sends to one handler with the same lengths, and its calls, laid apart where that is certain:
  // each send of a part was taken by a call of this part, if by any. `all_recorded`: none of those
  // that belong to the group is missing by the user's wish.
  std::vector<Group> apart(const Group& group, bool all_recorded) const;

 private:
  using Name = Index;
  static constexpr Name kUnknown = -1;  // any
  // AM id, then the words that are kept.
  using Content = std::tuple<std::uint8_t, std::uint64_t, std::uint64_t, std::uint64_t,
                             std::uint64_t, std::uint64_t>;
  struct Fragments {
    Name name = kUnknown;  // of the first
    std::uint64_t bytes = 0;
    std::vector<Name> all;
    bool known = true;
  };

  Name content_of(std::uint8_t am_id, const HeaderWords& header);
  std::unordered_map<Index, Fragments> fragments_of_sends();
  void name_sends();
  void name_calls();
  Name name_of(Index op) const;

  const Job& job_;
  std::map<Content, Name> contents_;
  std::unordered_map<Name, Name> sent_as_;  // by the content of a fragment: the name of its sends
  std::unordered_map<Index, Name> names_;   // of sends and calls
};

}  // namespace uctrace::merge
