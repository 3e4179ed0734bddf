// ContentsReader: where the contents of params and states come from.
#ifndef TG_RUNTIME_SESSION_CONTENTS_H_
#define TG_RUNTIME_SESSION_CONTENTS_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "absl/status/statusor.h"
#include "ir/decls.h"

namespace tg::runtime {

// Returns whether the module defines the buffer's contents. Otherwise the user must set them.
inline bool HasContents(const BufferDecl& buffer) {
  return buffer.values.has_value() || !buffer.file.empty();
}

class ContentsReader {
 public:
  virtual ~ContentsReader() = default;
  // Returns the contents of a param or state that HasContents: packed elements, valid until the
  // next call.
  virtual absl::StatusOr<std::span<const std::byte>> Read(const BufferDecl& buffer) = 0;
  // What keeps all contents valid and unchanged; null: nothing does.
  virtual std::shared_ptr<const void> owner() const { return nullptr; }
};

// Makes a reader for what is read at one time, so that files do not stay open.
using OpenContents = std::function<std::unique_ptr<ContentsReader>()>;

}  // namespace tg::runtime

#endif  // TG_RUNTIME_SESSION_CONTENTS_H_
