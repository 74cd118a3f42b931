// Code that is loaded, called and unloaded again. Two builds of it have the same code, and may be
// loaded at the same addresses.
#ifndef PLUGIN_TEXT
#error "PLUGIN_TEXT: what makes the builds differ"
#endif

extern "C" const char plugin_text[] = PLUGIN_TEXT;

extern "C" int call_from_plugin(int (*function)(int), int argument) {
  volatile int result = function(argument);
  return result + 1;
}
