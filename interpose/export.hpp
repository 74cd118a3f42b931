// Marks a function of this library that stands in front of one of the program's libraries.
// Everything else in the preload library is hidden.
#pragma once

#define UCTRACE_EXPORT extern "C" __attribute__((visibility("default")))
