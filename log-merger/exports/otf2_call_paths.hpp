// Call stacks as calling contexts: a tree in which stacks share their common beginning. Only
// otf2*.cpp include this.
#pragma once

#include <otf2/otf2.h>

#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "log-merger/exports/otf2_archive.hpp"
#include "log-merger/model/model.hpp"

namespace uctrace::exports {

class Otf2CallPaths {
 public:
  Otf2CallPaths(const Run& run, Otf2Strings& strings, Otf2Regions& regions)
      : run_(run), strings_(strings), regions_(regions) {}

  // Of a row of Run::stacks with at least one frame.
  OTF2_CallingContextRef path_of(std::int32_t stack);
  // Of a row of Run::call_sites.
  OTF2_SourceCodeLocationRef site_of(std::int32_t call_site);

  struct Context {
    OTF2_RegionRef region;
    OTF2_SourceCodeLocationRef place;  // or OTF2_UNDEFINED_SOURCE_CODE_LOCATION
    OTF2_CallingContextRef parent;     // or OTF2_UNDEFINED_CALLING_CONTEXT
    auto operator<=>(const Context&) const = default;
  };
  const std::vector<Context>& contexts() const { return contexts_; }
  using Place = std::pair<OTF2_StringRef, std::uint32_t>;  // file, line
  const std::vector<Place>& places() const { return places_; }

 private:
  OTF2_SourceCodeLocationRef place(std::string_view file, std::uint32_t line);

  const Run& run_;
  Otf2Strings& strings_;
  Otf2Regions& regions_;
  std::map<std::int32_t, OTF2_CallingContextRef> of_stack_;
  std::map<Context, OTF2_CallingContextRef> context_ids_;
  std::vector<Context> contexts_;
  std::map<Place, OTF2_SourceCodeLocationRef> place_ids_;
  std::vector<Place> places_;
};

}  // namespace uctrace::exports
