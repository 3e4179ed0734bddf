// NumPy's array file (.npy), format versions 1, 2 and 3.
//
// A file consists of "\x93NUMPY", two version bytes, the length of the header (2 bytes
// little-endian in version 1, else 4), the header (a Python dict literal with 'descr',
// 'fortran_order', 'shape'), and the elements. Format:
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html
//
// The reader accepts bool, i8..i64, u8..u64, f16, f32, f64 of either byte order, in C or Fortran
// order; the result is in C order and in this machine's byte order. Structured, string, object,
// complex and date types are Unimplemented. The data must have exactly the length that the shape
// implies. The format lacks bf16 and the 8-bit floats, so writing them is InvalidArgument.
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

// A file with a valid header and data of the right length. The data has not been read.
class NpyFile {
 public:
  static absl::StatusOr<NpyFile> Open(const std::string& path);

  // Does the same for bytes that the caller keeps alive. Errors call the file `name`.
  static absl::StatusOr<NpyFile> Parse(std::string_view bytes, std::string_view name);

  ElementType type() const { return type_; }
  const std::vector<int64_t>& shape() const { return shape_; }
  absl::StatusOr<HostTensor> Read() const;

 private:
  MappedFile file_;  // empty if the caller owns the bytes
  ElementType type_ = ElementType::kF32;
  std::vector<int64_t> shape_;
  bool fortran_order_ = false, big_endian_ = false;
  std::string_view data_;
};

// Parses the bytes of a whole file. Errors call the file `name`.
absl::StatusOr<HostTensor> ParseNpy(std::string_view bytes, std::string_view name);

absl::StatusOr<HostTensor> ReadNpy(const std::string& path);

// Returns the header that numpy.save writes for the same array: version 1 if the header fits,
// little-endian, C order, data aligned to 64 bytes.
absl::StatusOr<std::string> NpyHeader(const HostTensor& tensor);

// Replaces the file atomically.
absl::Status WriteNpy(const std::string& path, const HostTensor& tensor);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_IO_NPY_H_
