// Writes hwloc's view of this node into a file: its NUMA nodes, its PCI devices and the system's
// names for them.
//
//     uctrace-topology FILE
//
// FILE is either complete or missing: it is written as FILE.part. Exit status: 1 hwloc sees
// nothing, 2 the file cannot be written, 64 wrong usage.

#include <hwloc.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>

// Leaves out the components of hwloc that ask GPU drivers, or run on each processor in turn.
static const char* const kLeftOut[] = {"cuda", "nvml", "opencl", "rsmi", "levelzero", "gl", "x86"};

static int look(hwloc_topology_t* topology) {
  if (hwloc_topology_init(topology) != 0) return -1;
  for (size_t i = 0; i < sizeof kLeftOut / sizeof *kLeftOut; ++i) {
    hwloc_topology_set_components(*topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, kLeftOut[i]);
  }
  // A job may be confined to a part of its node while its devices are at another part.
  hwloc_topology_set_flags(*topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  hwloc_topology_set_cache_types_filter(*topology, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_icache_types_filter(*topology, HWLOC_TYPE_FILTER_KEEP_NONE);
  hwloc_topology_set_io_types_filter(*topology, HWLOC_TYPE_FILTER_KEEP_ALL);
  return hwloc_topology_load(*topology);
}

int main(int count, char** arguments) {
  char part[PATH_MAX];
  hwloc_topology_t topology;
  sigset_t none;
  if (count != 2 || snprintf(part, sizeof part, "%s.part", arguments[1]) >= PATH_MAX) return 64;
  // It was started with all signals blocked.
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  if (look(&topology) != 0) return 1;
  if (hwloc_topology_export_xml(topology, part, 0) != 0) return 2;
  return rename(part, arguments[1]) == 0 ? 0 : 2;
}
