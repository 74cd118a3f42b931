// The settings that the processes of a run had: variables, files of parameters, limits, and the
// transports that UCX opened.
#pragma once

#include <cstdint>

#include "log-merger/model/kinds.hpp"

namespace uctrace {

// The source of a setting. The first four are as in log::SettingFrom. The others are not settings
// but UCX's choices and offers: the transport and device of an interface that the process opened;
// those that UCT offered, opened or not; and the number of memory domains of a UCT component.
enum class SettingFrom : std::uint8_t {
  environment,
  mpi_file,
  ucx_file,
  system,
  opened,
  offered,
  component,
};
const char* name_of(SettingFrom);
constexpr bool is_setting(SettingFrom from) { return from < SettingFrom::opened; }

// A setting shared by processes [first_process, first_process + processes), with a row for each
// such range. A process in no row of a name does not have it set.
struct Setting {
  TextId name = kNoText, value = kNoText;
  SettingFrom from = SettingFrom::environment;
  std::uint32_t first_process = 0;
  std::uint32_t processes = 0;
};

}  // namespace uctrace
