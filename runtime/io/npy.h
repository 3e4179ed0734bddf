// NumPy's array file (.npy), format versions 1, 2 and 3.
//
// A file is: "\x93NUMPY", two version bytes, the length of the header (2 bytes little-endian in
// version 1, else 4), the header (a Python dict literal with 'descr', 'fortran_order', 'shape'),
// and the elements. Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
//
// Read: bool, i8..i64, u8..u64, f16, f32, f64 of either byte order, in C or Fortran order; the
// result is in C order and in this machine's byte order. Structured, string, object, complex and
// date types are Unimplemented. The data must be exactly as long as the shape says. Not in the
// format, so InvalidArgument on writing: bf16 and the 8-bit floats.
#ifndef TG_RUNTIME_IO_NPY_H_
#define TG_RUNTIME_IO_NPY_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/io/file.h"
#include "runtime/io/host_tensor.h"

namespace tg::runtime {

// A file whose header has been read and found right, and whose data is as long as it says, but has
// not been read.
class NpyFile {
 public:
  static absl::StatusOr<NpyFile> Open(const std::string& path);

  // The same over bytes that the caller keeps alive. `name` stands for the file in errors.
  static absl::StatusOr<NpyFile> Parse(std::string_view bytes, std::string_view name);

  ElementType type() const { return type_; }
  const std::vector<int64_t>& shape() const { return shape_; }
  absl::StatusOr<HostTensor> Read() const;

 private:
  MappedFile file_;  // empty where the caller owns the bytes
  ElementType type_ = ElementType::kF32;
  std::vector<int64_t> shape_;
  bool fortran_order_ = false, big_endian_ = false;
  std::string_view data_;
};

// Parses the bytes of a whole file. `name` stands for the file in errors.
absl::StatusOr<HostTensor> ParseNpy(std::string_view bytes, std::string_view name);

absl::StatusOr<HostTensor> ReadNpy(const std::string& path);

// What numpy.save writes for the same array: version 1 where the header fits, little-endian, C
// order, data aligned to 64 bytes.
absl::StatusOr<std::string> NpyHeader(const HostTensor& tensor);

// The file is replaced atomically.
absl::Status WriteNpy(const std::string& path, const HostTensor& tensor);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_IO_NPY_H_
