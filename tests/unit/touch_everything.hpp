// Reads every byte that a log file returns: for tests that damage it.
#pragma once

#include <cstdint>

#include "event-log/reader/reader.hpp"

namespace uctrace::log::test {

inline void touch_everything(const LogFile& file) {
  std::uint64_t sum = 0;
  const auto visit =
      Overloaded{[&](std::uint16_t, const UctOperationView& v) {
                   for (auto w : v.header) sum += w;
                 },
                 [&](std::uint16_t, const UctArrivalView& v) {
                   for (auto w : v.header) sum += w;
                 },
                 [&](std::uint16_t, const MpiRequestsView& v) {
                   for (auto w : v.handles) sum += w;
                   for (auto w : v.ended) sum += w;
                 },
                 [&](std::uint16_t, const DatatypeView& v) {
                   for (char c : v.name) sum += static_cast<unsigned char>(c);
                 },
                 [&](std::uint16_t, const TextView& v) {
                   for (char c : v.text) sum += static_cast<unsigned char>(c);
                 },
                 [&](std::uint16_t, const StackView& v) {
                   for (auto a : v.addresses) sum += a;
                 },
                 [&](std::uint16_t, const ModuleView& v) {
                   for (auto b : v.build_id) sum += std::to_integer<unsigned>(b);
                   for (char c : v.path) sum += static_cast<unsigned char>(c);
                 },
                 [&](std::uint16_t, const FaultView& v) {
                   for (char c : v.detail) sum += static_cast<unsigned char>(c);
                 },
                 [&](std::uint16_t, const CommunicatorView& v) {
                   sum += static_cast<std::uint64_t>(v.world_rank(v.r.size).value_or(0));
                 },
                 [&](std::uint16_t, const UctInterfaceView& v) {
                   sum += v.transport.size() + v.device.size() + v.memory_domain.size();
                   for (auto b : v.interface_address) sum += std::to_integer<unsigned>(b);
                 },
                 [&](std::uint16_t, const UctEndpointView& v) {
                   for (auto b : v.address) sum += std::to_integer<unsigned>(b);
                 }};
  file.for_each_record(Stream::events, visit);
  file.for_each_record(Stream::definitions, visit);
  const ClockFit clock = file.clock();
  sum += static_cast<std::uint64_t>(clock.job_ns(sum)) + clock.max_deviation_ns();
  sum += file.damage().sentences().size() + file.process_key().size() + file.dropped_records();
  volatile std::uint64_t sink = sum;
  (void)sink;
}

}  // namespace uctrace::log::test
