#include "log-merger/model/setting_rows.hpp"

namespace uctrace {

const char* name_of(SettingFrom from) {
  switch (from) {
    case SettingFrom::environment:
      return "environment";
    case SettingFrom::mpi_file:
      return "mpi_file";
    case SettingFrom::ucx_file:
      return "ucx_file";
    case SettingFrom::system:
      return "system";
    case SettingFrom::opened:
      return "opened";
    case SettingFrom::offered:
      return "offered";
    case SettingFrom::component:
      return "component";
  }
  return "?";
}

}  // namespace uctrace
