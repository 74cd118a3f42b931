// What the fragments of active messages told of their content: which of the messages that are alike
// by handler and lengths are not the same. Private to the matching.
//
// A handler is called inside an arrival. The arrival's header, with the request id of a rendezvous
// or with a digest of what the program put into the message (event-log/format/ucp_wire.hpp), is
// that of a fragment of the send that it took. So each send whose fragments are all known has a
// *name*, the same for those that cannot be told apart, and a call has that of the sends with its
// fragment.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <utility>
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
  static constexpr Name kNotSent = -2;
  struct Content {
    std::uint8_t am_id = 0;
    std::array<std::uint64_t, log::kMaxHeaderWords> words{};
    bool operator==(const Content&) const = default;
  };
  struct ContentHash {
    std::size_t operator()(const Content& content) const;
  };
  // What the fragments of a send tell together.
  struct Told {
    Name name = kUnknown;  // the content of the first
    std::uint32_t fragments = 0;
    bool all_known = true;
    std::uint64_t bytes = 0;
  };
  // Sends, with the contents of their fragments.
  using Posted = std::vector<std::pair<Index, Name>>;

  Name content_of(std::uint8_t am_id, const HeaderWords& header);
  std::vector<Told> read_fragments(Posted& posted);
  void name_sends();
  void name_calls();
  Name name_of(Index op) const;

  const Job& job_;
  std::unordered_map<Content, Name, ContentHash> contents_;
  std::vector<Name> sent_as_;  // by the content of a fragment: the name of its sends
  std::vector<Name> names_;    // by UCP operation; empty: there is no active message
};

}  // namespace uctrace::merge
