#include "log-merger/load/load_memory_calls.hpp"

#include "event-log/reader/plain_text.hpp"

namespace uctrace::merge {

void add_memory_call(MemoryCalls& to, std::uint16_t lane, const log::MemoryCallView& view) {
  MemoryCall call;
  call.lane = lane;
  call.function = view.function();
  call.origin_kind = view.origin_kind();
  call.route = view.route();
  call.status = view.status();
  call.memory = view.r.memory;
  call.origin = view.r.origin;
  call.start_tick = view.r.start_tick;
  call.end_tick = view.r.start_tick + view.r.duration_ticks;
  call.domain = view.r.domain;
  call.key = view.r.key;
  call.address = view.r.address;
  call.bytes = view.r.bytes;
  if (call.succeeded() && call.action() == log::MemoryAction::registration) {
    to.registered_bytes += call.bytes;
  }
  to.calls.push_back(call);
}

void name_memory_domain(MemoryCalls& to, const log::TextView& text, Texts& texts) {
  to.domains[text.r.id].push_back({text.r.tick, texts.intern(plain_text(text.text))});
}

}  // namespace uctrace::merge
