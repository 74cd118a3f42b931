// The meaning of names in UCX_TLS.
#pragma once

#include <string_view>

namespace uctrace {

// Whether UCX_TLS=`name` selects `transport`: by its name, by a prefix (`rc` for rc_mlx5), or by an
// alias for several (`sm`, `ib`, `rc_x`, `all`).
bool is_meant_by(std::string_view transport, std::string_view name);

// Whether this value of UCX_TLS allows `transport`: "tcp,self", or "^tcp" for all others.
bool tls_allow(std::string_view value, std::string_view transport);

}  // namespace uctrace
