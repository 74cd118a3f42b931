// Finds the parts of uctrace that other processes run, relative to this command: the tree may be
// moved, and the command may be reached through a symbolic link.
#pragma once

#include <filesystem>

namespace uctrace::cli {

// The file of this command. Throws Error if it cannot be found, for example without /proc.
std::filesystem::path own_program();

// False in a chroot or container where nobody mounted it.
bool has_proc();

// The preload library: beside the command in a build folder, in ../lib*/[triplet/]uctrace of an
// installation. Throws Error if it is in neither.
std::filesystem::path find_preload_library();

// The library that CUDA's driver loads to report allocations (`record --gpu-history`): beside the
// preload library, or where UCTRACE_GPU_HISTORY says. Throws Error if it is not there.
std::filesystem::path find_gpu_history();

// The program that tries a UCX out (`check`): beside the command in a build folder, in
// ../libexec/uctrace of an installation. Empty if it is in neither.
std::filesystem::path find_self_test();

// The program that a job with GPUs runs on each node to find the topology of its devices, in the
// same places. Empty if it is in neither, because uctrace was built without hwloc.
std::filesystem::path find_topology_program();

// The patch that `build-ucx` applies: in patches/ beside the command in a build folder, in
// ../share/uctrace/patches of an installation. Throws Error if it is in neither.
std::filesystem::path find_ucx_patch();

}  // namespace uctrace::cli
