// The sources of a module's parameters: tensors of safetensors files, bytes of other files, or
// values in its text.
#ifndef TG_RUNTIME_SESSION_PARAMS_H_
#define TG_RUNTIME_SESSION_PARAMS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/decls.h"
#include "runtime/io/safetensors.h"
#include "runtime/session/contents.h"

namespace tg::runtime {

class ParamReader final : public ContentsReader {
 public:
  // File names are relative to the folder of the module's file.
  explicit ParamReader(const Declarations& module) : module_(module) {}

  // A file is mapped, not read, unless its elements are in runs. Errors name the buffer and the
  // file: the file or tensor does not exist, its type or shape differs from the declaration, or the
  // number of values does not match the shape.
  absl::StatusOr<std::span<const std::byte>> Read(const BufferDecl& buffer) override;

  struct Place {
    std::string path;
    uint64_t offset = 0;
  };
  // Where a file has the contents as Read returns them; none: they are values or runs of elements.
  absl::StatusOr<std::optional<Place>> Find(const BufferDecl& buffer);

 private:
  absl::StatusOr<std::span<const std::byte>> ReadFile(const BufferDecl& buffer);
  absl::StatusOr<std::span<const std::byte>> ReadBytes(const BufferDecl& buffer,
                                                       const std::string& path);
  absl::StatusOr<std::span<const std::byte>> ReadValues(const BufferDecl& buffer);

  const Declarations& module_;
  std::map<std::string, std::unique_ptr<SafetensorsFile>> files_;
  std::map<std::string, MappedFile> plain_files_;
  std::vector<std::byte> packed_;  // of the last buffer, where its elements are packed here
};

}  // namespace tg::runtime

#endif  // TG_RUNTIME_SESSION_PARAMS_H_
