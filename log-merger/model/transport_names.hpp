// What a name in UCX_TLS stands for.
#pragma once

#include <string_view>

namespace uctrace {

// Whether UCX_TLS=`name` means `transport`: by its own name, by what it begins with (`rc` of
// rc_mlx5), or by a name for several (`sm`, `ib`, `rc_x`, `all`).
bool is_meant_by(std::string_view transport, std::string_view name);

// Whether UCX may use `transport` where UCX_TLS has this value: "tcp,self", or "^tcp" for all
// others.
bool tls_allow(std::string_view value, std::string_view transport);

}  // namespace uctrace
