// The page shown when the URL of `serve` is opened in a browser.
#pragma once

namespace uctrace::serving {

inline constexpr const char* kStartPage =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta "
    "charset=\"utf-8\"><title>uctrace</title></head>\n"
    "<body><h1>uctrace</h1>\n"
    "<p>The counters of a job are at <a href=\"/metrics\">/metrics</a>, for Prometheus and what "
    "else reads OpenMetrics.</p></body></html>\n";

}  // namespace uctrace::serving
