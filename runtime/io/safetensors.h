// Safetensors files: named dense tensors, read in place from a mapped file.
//
// A file consists of the length of the header (8 bytes, little-endian), the header (one JSON object
// from name to {"dtype", "shape", "data_offsets": [begin, end]}, and optionally "__metadata__" from
// string to string), and the data, to which offsets are relative. Elements are little-endian, in C
// order. Format: https://github.com/huggingface/safetensors
//
// Opening validates the whole file, so that later reads cannot fail. It checks the header's length
// against the file (and 100 MB), JSON and UTF-8, the nesting depth, duplicate names (which JSON
// permits), types, shapes, that the size of each tensor's data matches its type and shape, and that
// the tensors cover the data without gap, overlap or remainder.
#ifndef TG_RUNTIME_IO_SAFETENSORS_H_
#define TG_RUNTIME_IO_SAFETENSORS_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/io/file.h"
#include "runtime/io/host_tensor.h"

namespace tg::runtime {

struct SafetensorsEntry {
  std::string name;
  ElementType type = ElementType::kF32;
  std::vector<int64_t> shape;
  std::string_view bytes;  // view into the file; may be unaligned

  size_t offset = 0;  // offset of `bytes` in the file
};

class SafetensorsFile {
 public:
  // Maps the file. It must not be truncated while it is open; see MappedFile.
  static absl::StatusOr<SafetensorsFile> Open(const std::string& path);

  // Does the same for bytes that the caller keeps alive. Errors call the file `name`.
  static absl::StatusOr<SafetensorsFile> Parse(std::string_view bytes, std::string_view name);

  // Entries in the order of their data; empty tensors at the same offset are sorted by name.
  std::span<const SafetensorsEntry> entries() const { return entries_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  // Returns nullptr if there is no such tensor.
  const SafetensorsEntry* Find(std::string_view name) const;

  // Returns a copy of one tensor. NotFound (with the closest names) if it does not exist.
  absl::StatusOr<HostTensor> Read(std::string_view name) const;

 private:
  std::string name_;
  MappedFile file_;  // empty if the caller owns the bytes
  std::vector<SafetensorsEntry> entries_;
  std::map<std::string, size_t, std::less<>> index_;
  std::map<std::string, std::string> metadata_;
};

// A tensor for the writer, which borrows the bytes.
struct NamedTensor {
  std::string name;
  ElementType type = ElementType::kF32;
  std::vector<int64_t> shape;
  std::span<const std::byte> data;
};

// Returns the header with its length, padded with spaces so that the data begins at a multiple of
// 8. The tensors' data must follow in the given order. InvalidArgument for a repeated, reserved or
// non-UTF-8 name, and for data that does not match type and shape.
absl::StatusOr<std::string> SafetensorsHeader(std::span<const NamedTensor> tensors,
                                              const std::map<std::string, std::string>& metadata);

// Replaces the file atomically. Sorts tensors by decreasing element size and then by name (as the
// reference implementation does), so that each is aligned to its elements.
absl::Status WriteSafetensors(const std::string& path, std::vector<NamedTensor> tensors,
                              const std::map<std::string, std::string>& metadata = {});

}  // namespace tg::runtime

#endif  // TG_RUNTIME_IO_SAFETENSORS_H_
