// The tables of the program's call sites.
#pragma once

#include <tuple>

#include "log-merger/model/model.hpp"
#include "log-merger/store/store_columns.hpp"

namespace uctrace::store {

template <>
struct Table<CodeFrame> {
  using Row = CodeFrame;
  static constexpr const char* name = "frames";
  static constexpr auto columns = std::tuple{
      column("function", &Row::function, "function that calls", Unit::text),
      column("file", &Row::file, "source file", Unit::text),
      column("line", &Row::line, "line of the call, 0 = not known"),
      column("module", &Row::module, "path of the program or library", Unit::text),
      column("build_id", &Row::build_id, "of the module, in hex", Unit::text),
      column("offset", &Row::offset, "of the call in the module's file", Unit::address),
      column("inlined", &Row::inlined, "1 = its code is part of the next frame's"),
  };
};

template <>
struct Table<CallStack> {
  using Row = CallStack;
  static constexpr const char* name = "stacks";
  static constexpr auto columns = std::tuple{
      column("first_frame", &Row::first_frame, "its first row of stack_frames", Unit::stack_frame),
      column("frames", &Row::frames, "number of its rows of stack_frames"),
      column("call_site", &Row::call_site, "where the program calls", Unit::call_site),
      column("truncated", &Row::truncated, "1 = there are more frames"),
  };
};

template <>
struct Table<StackFrame> {
  static constexpr const char* name = "stack_frames";
  static constexpr auto columns =
      std::tuple{column("frame", &StackFrame::frame, "innermost first", Unit::frame)};
};

template <>
struct Table<CallSite> {
  using Row = CallSite;
  static constexpr const char* name = "call_sites";
  static constexpr auto columns = std::tuple{
      column("label", &Row::label, "function (file:line), or as much as is known", Unit::text),
      column("function", &Row::function, "function that calls", Unit::text),
      column("file", &Row::file, "source file", Unit::text),
      column("line", &Row::line, "line of the call, 0 = not known"),
      column("module", &Row::module, "path of the program or library", Unit::text),
  };
};

}  // namespace uctrace::store
