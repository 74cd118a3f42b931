#include "log-merger/load/load_library_calls.hpp"

#include <iterator>
#include <string_view>

#include "event-log/reader/plain_text.hpp"

namespace uctrace::merge {

void add_library_call(LibraryCalls& to, std::uint16_t lane, const log::LibraryCallView& view,
                      CallerStacks& callers) {
  LibraryCall call;
  call.lane = lane;
  call.function = view.function();
  call.peer = view.r.peer;
  call.status = view.status();
  call.stack = view.has_stack() ? view.stack() : callers.stack_of(view.caller(), view.r.start_tick);
  call.start_tick = view.r.start_tick;
  call.end_tick = view.r.start_tick + view.r.duration_ticks;
  call.scope = view.r.scope;
  call.bytes = view.r.bytes;
  call.request = view.r.request;
  call.knows_bytes = view.knows_bytes();
  call.operation = view.operation();
  // A layer may have been loaded during the call.
  for (std::size_t i = 0; i < std::size(call.makers); ++i) {
    call.makers[i] = callers.stack_of(view.makers[i], call.end_tick);
  }
  to.calls.push_back(call);
}

void name_library(LibraryCalls& in, const log::TextView& text, Texts& texts) {
  const auto plain = [&](std::string_view part) { return texts.intern(plain_text(part)); };
  if (text.kind() == log::TextKind::library_function) {
    in.functions[text.r.id] = plain(text.text);
    return;
  }
  const std::size_t end = text.text.find('\n');
  in.libraries[text.r.id] = plain(text.text.substr(0, end));
  in.versions[text.r.id] =
      end == std::string_view::npos ? kNoText : plain(text.text.substr(end + 1));
}

}  // namespace uctrace::merge
