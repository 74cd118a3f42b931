#include "log-merger/exports/otf2_call_paths.hpp"

namespace uctrace::exports {

OTF2_SourceCodeLocationRef Otf2CallPaths::place(std::string_view file, std::uint32_t line) {
  if (file.empty()) return OTF2_UNDEFINED_SOURCE_CODE_LOCATION;
  const auto [entry, is_new] = place_ids_.try_emplace(
      {strings_.id_of(file), line}, static_cast<OTF2_SourceCodeLocationRef>(places_.size()));
  if (is_new) places_.push_back(entry->first);
  return entry->second;
}

OTF2_SourceCodeLocationRef Otf2CallPaths::site_of(std::int32_t call_site) {
  const CallSite& site = run_.call_sites[static_cast<std::size_t>(call_site)];
  return place(run_.texts[site.file], site.line);
}

OTF2_CallingContextRef Otf2CallPaths::path_of(std::int32_t stack) {
  const auto known = of_stack_.find(stack);
  if (known != of_stack_.end()) return known->second;
  const CallStack& row = run_.stacks[static_cast<std::size_t>(stack)];
  OTF2_CallingContextRef path = OTF2_UNDEFINED_CALLING_CONTEXT;
  for (std::uint32_t i = row.frames; i-- > 0;) {  // outermost first
    const CodeFrame& frame = run_.frames[run_.stack_frames[row.first_frame + i].frame];
    const std::string name =
        frame.function == kNoText ? label_of(run_, frame) : run_.texts[frame.function];
    const Context context{regions_.id_of(strings_.id_of(name), Layer::program),
                          place(run_.texts[frame.file], frame.line), path};
    const auto [entry, is_new] =
        context_ids_.try_emplace(context, static_cast<OTF2_CallingContextRef>(contexts_.size()));
    if (is_new) contexts_.push_back(context);
    path = entry->second;
  }
  of_stack_.emplace(stack, path);
  return path;
}

}  // namespace uctrace::exports
