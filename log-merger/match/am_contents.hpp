// Distinguishes active messages by the content of their fragments, if handler and lengths are the
// same. Private to the matching.
//
// A handler is called inside an arrival. The arrival's header, with a rendezvous's request id or a
// digest of the program's data (event-log/format/ucp_wire.hpp), equals that of a fragment of the
// send that it took. So each send with known fragments gets a *name*, shared by sends that cannot
// be distinguished, and a call gets the name of the sends with its fragment.
#pragma once

#include <cstdint>
#include <vector>

#include "log-merger/job/job.hpp"
#include "log-merger/match/match_parts.hpp"

namespace uctrace::merge {

class AmContents {
 public:
  explicit AmContents(const Job& job);

  // A hash of a content. Different contents with the same hash, which are very rare, count as the
  // same.
  using Name = std::uint64_t;
  static constexpr Name kUnknown = 0;  // any

  // Of a UCP operation.
  Name name_of(UcpIndex op) const;

  // Separates sends to one handler with the same lengths, and its calls, by name where that is
  // certain: each send of a part was taken by a call of the same part, if at all. `all_recorded`:
  // none of the group is missing by the user's choice.
  static std::vector<Group> apart(const Group& group, bool all_recorded);

 private:
  static constexpr Name kNotSent = 1;
  // The combined content of a send's fragments.
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
  std::vector<SentAs> sent_as_;  // from a fragment's content to the name of its sends
  ByIndex<UcpOp, Name> names_;   // empty: there is no active message
};

}  // namespace uctrace::merge
