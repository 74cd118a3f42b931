#include "tests/tracegen/call_stacks.hpp"

#include <fmt/format.h>

#include <cstring>

#include "tests/tracegen/lane.hpp"

namespace uctrace::tracegen {
namespace {

constexpr std::uint64_t kCodeBytes = 0x100000;
constexpr std::uint64_t kMpiLibrary = 0x7f4000000000, kUcp = 0x7f4010000000, kLibc = 0x7f4020000000;
constexpr std::uint64_t kMain = 0x900, kStart = 0x1234;

// Offsets of lines in the program: of calls of MPI, and of UCP.
std::uint64_t line_of_mpi_call(std::uint16_t function) { return 0x1000 + 0x20u * function; }
std::uint64_t line_of_operation(log::UcpFunction function) {
  return 0x8000 + 0x20 * static_cast<std::uint64_t>(function);
}

std::string site(std::uint64_t offset) { return fmt::format("stencil+{:#x}", offset); }

}  // namespace

CallStacks::CallStacks(const Shape& shape, std::int32_t rank)
    : kept_(shape.options().stacks),
      mpich_(shape.options().mpi == Mpi::mpich),
      program_(shape.program(rank)) {}

std::string CallStacks::site_of_mpi_call(std::uint16_t mpi_function) {
  return site(line_of_mpi_call(mpi_function));
}

std::string CallStacks::site_of_operation(log::UcpFunction function) {
  return site(line_of_operation(function));
}

void CallStacks::define_modules(Lane& lane, std::int64_t at_ns) const {
  if (kept_ == Stacks::off) return;
  const auto define = [&](std::uint64_t at, const std::string& path) {
    log::Module record{};
    record.head.a = 0;
    record.head.b = static_cast<std::uint32_t>(path.size());
    record.tick = lane.tick(at_ns);
    record.bias = record.begin = at;
    record.end = at + kCodeBytes;
    std::vector<std::uint64_t> words((path.size() + 7) / 8);
    if (!path.empty()) std::memcpy(words.data(), path.data(), path.size());
    lane.define(record, log::RecordType::module, words, at_ns);
  };
  define(program_, "");
  define(kMpiLibrary, mpich_ ? "/usr/lib/libmpich.so.12" : "/usr/lib/libmpi.so.40");
  define(kUcp, "/usr/lib/libucp.so.0");
  define(kLibc, "/usr/lib/libc.so.6");
}

std::uint64_t CallStacks::caller(std::uint16_t mpi_function) const {
  return kept_ == Stacks::callers ? in_program(line_of_mpi_call(mpi_function)) : 0;
}

std::uint32_t CallStacks::of_mpi_call(Lane& lane, std::uint16_t mpi_function, std::int64_t at_ns) {
  if (kept_ < Stacks::mpi) return 0;
  return take(lane, {in_program(line_of_mpi_call(mpi_function))}, at_ns);
}

// With `mpi`, for the program's own UCX calls; with `all`, also for MPI's operations.
std::uint32_t CallStacks::of_operation(Lane& lane, log::UcpFunction function, std::int64_t at_ns) {
  const log::UcpFamily family = log::family_of(function);
  const bool of_program = family == log::UcpFamily::am_send ||
                          family == log::UcpFamily::stream_send ||
                          family == log::UcpFamily::stream_receive;
  if (kept_ < Stacks::mpi || family == log::UcpFamily::am_receive ||
      (kept_ == Stacks::mpi && !of_program)) {
    return 0;
  }
  std::vector<std::uint64_t> frames{in_program(line_of_operation(function))};
  if (!of_program) frames.insert(frames.begin(), kMpiLibrary + 0x40);
  return take(lane, std::move(frames), at_ns);
}

std::uint32_t CallStacks::of_transfer(Lane& lane, log::UctOp op, std::int64_t at_ns) {
  if (kept_ != Stacks::all) return 0;
  const std::uint64_t in_ucp = kUcp + 0x100 + 0x10 * static_cast<std::uint64_t>(op);
  return take(lane, {in_ucp, kMpiLibrary + 0x80, in_program(0x7000)}, at_ns);
}

std::uint32_t CallStacks::take(Lane& lane, std::vector<std::uint64_t> frames, std::int64_t at_ns) {
  frames.push_back(in_program(kMain));
  frames.push_back(kLibc + kStart);
  const auto [at, fresh] = ids_.try_emplace(frames, static_cast<std::uint32_t>(ids_.size() + 1));
  if (fresh) {
    log::Stack record{};
    record.head.b = at->second;
    record.tick = lane.tick(at_ns);
    lane.define(record, log::RecordType::stack, frames, at_ns);
    lane.count_unwound();
  }
  return at->second;
}

}  // namespace uctrace::tracegen
