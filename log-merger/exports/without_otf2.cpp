// Replaces otf2.cpp in builds without the OTF2 library.
#include "event-log/reader/error.hpp"
#include "log-merger/exports/formats.hpp"

namespace uctrace::exports {

void require_otf2() {
  throw Error({.what = "export --to otf2",
               .why = "this uctrace was built without the OTF2 library",
               .to_do = "install libopen-trace-format2-dev, or OTF2 with its pkg-config file, and "
                        "build uctrace again"});
}

void write_otf2(const RowSource&, const ExportOptions&, Remarks&) { require_otf2(); }

}  // namespace uctrace::exports
