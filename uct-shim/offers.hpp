// What UCT offers in this process, whether or not UCX then opens it: transports with their devices,
// and components, which are UCT's modules. Helps to tell why a transport was missing
// (docs/settings.md).
#pragma once

namespace uctrace::uct {

// Writes offers that the log lacks to it; does nothing while there is no log. For slow paths: it
// takes a lock.
void tell_offers();

}  // namespace uctrace::uct
