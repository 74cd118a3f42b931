// The settings that the processes of a run had: variables, files of parameters, limits, and the
// transports that UCX opened.
#pragma once

#include <cstdint>

#include "log-merger/model/kinds.hpp"

namespace uctrace {

// Where a setting stands. The first four as log::SettingFrom. The others are no settings, but what
// UCX made of them, and of what: the transport and device of an interface that the process opened;
// those that UCT offered it, whether it opened them or not; and how many memory domains a component
// of UCT has.
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

// A setting that processes [first_process, first_process + processes) have in common. Of one that
// several runs of processes have there is a row for each run; who is in no row of a name has it not
// set.
struct Setting {
  TextId name = kNoText, value = kNoText;
  SettingFrom from = SettingFrom::environment;
  std::uint32_t first_process = 0;
  std::uint32_t processes = 0;
};

}  // namespace uctrace
