// Marks a function of this library that intercepts one of the program's libraries. All other
// symbols of the preload library are hidden.
#pragma once

#define UCTRACE_EXPORT extern "C" __attribute__((visibility("default")))
