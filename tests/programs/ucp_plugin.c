// A plug-in that uses UCP: what a program loads whose own scope knows nothing of UCX.
#include "ucp_self.h"

__attribute__((visibility("default"))) int use_ucp(void) { return exchange_with_self(); }
