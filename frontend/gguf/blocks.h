// The blocks of GGUF's tensor types, as data.
#ifndef TG_FRONTEND_GGUF_BLOCKS_H_
#define TG_FRONTEND_GGUF_BLOCKS_H_

#include <cstdint>
#include <string_view>
#include <vector>

#include "frontend/gguf/gguf.h"
#include "frontend/gguf/weights.h"
#include "ir/dtype.h"

namespace tg::gguf {

// A field of a block: `count` elements from byte `offset` on; a field of one element is a scalar.
struct BlockField {
  std::string_view name;
  Scalar type;
  int64_t offset, count;
};

struct BlockFormat {
  TensorType type;
  std::vector<BlockField> fields;
  BlockLayout layout;
};

const BlockFormat& FormatOf(TensorType type);

}  // namespace tg::gguf

#endif  // TG_FRONTEND_GGUF_BLOCKS_H_
