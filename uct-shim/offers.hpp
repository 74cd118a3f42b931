// What UCT offers in this process, whether UCX then opens it or not: transports with their devices,
// and components, which are UCT's modules. Tells why a transport was not there (docs/settings.md).
#pragma once

namespace uctrace::uct {

// Writes to the log what was offered and is not in it yet; nothing while there is no log. For slow
// paths: it takes a lock.
void tell_offers();

}  // namespace uctrace::uct
