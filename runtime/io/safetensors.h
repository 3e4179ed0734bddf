// Safetensors files: named dense tensors, read in place from a mapped file.
//
// A file is: the length of the header (8 bytes, little-endian), the header (one JSON object from
// name to
// {"dtype", "shape", "data_offsets": [begin, end]}, and optionally "__metadata__" from string to
// string), and the data, to which offsets are relative. Elements are little-endian, in C order.
// Format: https://github.com/huggingface/safetensors
//
// Everything is checked on opening, so that a file that opens can be read: the header's length
// against the file (and 100 MB), JSON and UTF-8, depth of nesting, duplicate names (which JSON
// permits), types, shapes, that each tensor's bytes are as many as type and shape say, and that the
// tensors cover the data without hole, overlap or rest.
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
  std::string_view bytes;  // into the file; not aligned in general

  size_t offset = 0;  // of `bytes` in the file
};

class SafetensorsFile {
 public:
  // Maps the file. See MappedFile about truncation while it is open.
  static absl::StatusOr<SafetensorsFile> Open(const std::string& path);

  // The same over bytes that the caller keeps alive. `name` stands for the file in errors.
  static absl::StatusOr<SafetensorsFile> Parse(std::string_view bytes, std::string_view name);

  // In the order of their data; empty tensors at the same place by name.
  std::span<const SafetensorsEntry> entries() const { return entries_; }
  const std::map<std::string, std::string>& metadata() const { return metadata_; }

  // nullptr where there is no such tensor.
  const SafetensorsEntry* Find(std::string_view name) const;

  // A copy of one tensor. NotFound (with the closest names) where there is none.
  absl::StatusOr<HostTensor> Read(std::string_view name) const;

 private:
  std::string name_;
  MappedFile file_;  // empty when the caller owns the bytes
  std::vector<SafetensorsEntry> entries_;
  std::map<std::string, size_t, std::less<>> index_;
  std::map<std::string, std::string> metadata_;
};

// What the writer takes: bytes are borrowed.
struct NamedTensor {
  std::string name;
  ElementType type = ElementType::kF32;
  std::vector<int64_t> shape;
  std::span<const std::byte> data;
};

// The header with its length, padded with spaces so that the data begins at a multiple of 8; the
// data of the tensors follows in the given order. InvalidArgument for a repeated, reserved or
// non-UTF-8 name, and for data that does not match type and shape.
absl::StatusOr<std::string> SafetensorsHeader(std::span<const NamedTensor> tensors,
                                              const std::map<std::string, std::string>& metadata);

// The file is replaced atomically. Tensors are sorted by decreasing element size and then by name
// (as the reference implementation does), so that each is aligned to its elements.
absl::Status WriteSafetensors(const std::string& path, std::vector<NamedTensor> tensors,
                              const std::map<std::string, std::string>& metadata = {});

}  // namespace tg::runtime

#endif  // TG_RUNTIME_IO_SAFETENSORS_H_
