#include "face.hpp"

namespace virtual_gpu {

const Face kFace{.visible_variable = "CUDA_VISIBLE_DEVICES",
                 .first_address = 0x200000000000,
                 .slot = 0,
                 .kind = ""};

}  // namespace virtual_gpu
