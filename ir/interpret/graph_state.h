// Versions of buffers while a graph is interpreted.
#ifndef TG_IR_INTERPRET_GRAPH_STATE_H_
#define TG_IR_INTERPRET_GRAPH_STATE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ir/interpret/host_buffer.h"
#include "ir/interpret/tensor_ops.h"

namespace tg::interpret {

// One write of a graph: buffer elements indices[i] become values[i]. Writes are numbered in an
// order in which they may happen.
struct WriteRecord {
  int order = 0;
  std::vector<int64_t> indices;
  std::vector<int64_t> values;
  std::vector<double> errors;  // empty: exact
};
using Writes = std::vector<std::shared_ptr<const WriteRecord>>;

// A buffer's contents after some writes. Immutable.
struct Version {
  std::string name;
  std::shared_ptr<const HostBuffer> contents;
  Writes writes;  // by order
};
using VersionPtr = std::shared_ptr<const Version>;

// `base` after one more write.
VersionPtr Apply(const VersionPtr& base, std::shared_ptr<const WriteRecord> write);

// The buffer after the writes of all `versions`, which are versions of one buffer. Applies the
// writes to `entry`, the contents before any of them, in order.
VersionPtr Join(const std::vector<VersionPtr>& versions, const VersionPtr& entry);

// The contents of a version seen as a tensor: element i is contents[map[i]] (map null: all of it).
Tensor Read(const VersionPtr& version, const std::vector<int64_t>* map, Extents shape);

}  // namespace tg::interpret

#endif  // TG_IR_INTERPRET_GRAPH_STATE_H_
