// What the environment says about the virtual GPUs (../README.md), read once.
#pragma once

#include <cuda.h>

#include <map>
#include <string>
#include <vector>

namespace virtual_gpu {

// A GPU as the program counts them: a variable (Face) may leave some out and reorder the rest.
struct VisibleGpu {
  int number;    // among those of the machine
  int instance;  // of a GPU that is divided (MIG), -1: it is whole
};

struct Settings {
  std::vector<VisibleGpu> gpus;
  int machine_gpus = 2;     // VIRTUAL_GPU_COUNT
  int nvlinks = 0;          // VIRTUAL_GPU_NVLINKS: of each GPU
  int polls = 1;            // VIRTUAL_GPU_POLLS: how often an event is asked for before it is over
  bool tells_less = false;  // VIRTUAL_GPU_TELLS_LESS
  bool readable = false;    // VIRTUAL_GPU_READABLE: memory of devices, by the CPU
  int instances = 0;        // VIRTUAL_GPU_MIG: of each GPU
};

const Settings& settings();

// The result that this call of a function is to have, by VIRTUAL_GPU_FAIL; 0: its own.
int injected_failure(const char* function);

// Appends a line to VIRTUAL_GPU_TRACE, where that is set.
void trace(const char* function, int result);

// Unlike that of any other GPU of any other host.
CUuuid uuid_of(VisibleGpu gpu);

// Its number among the buses of the machine.
int bus_of(VisibleGpu gpu);

}  // namespace virtual_gpu
