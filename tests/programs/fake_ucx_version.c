// Preloaded behind the profiler: a UCX that reports an unknown version.

void ucp_get_version(unsigned* major, unsigned* minor, unsigned* release) {
  *major = 9;
  *minor = 9;
  *release = 9;
}

const char* ucp_get_version_string(void) { return "9.9.9"; }
