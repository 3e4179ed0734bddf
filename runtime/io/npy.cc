#include "runtime/io/npy.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <utility>

#include "base/status.h"
#include "base/write_file.h"
#include "runtime/io/file.h"
#include "runtime/io/npy_header.h"

namespace tg::runtime {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kDataAlignment = 64;

struct DescrRow {
  std::string_view kind_and_size;
  ElementType type;
};

constexpr std::array<DescrRow, 12> kDescrs = {{
    {"b1", ElementType::kBool},
    {"i1", ElementType::kI8},
    {"i2", ElementType::kI16},
    {"i4", ElementType::kI32},
    {"i8", ElementType::kI64},
    {"u1", ElementType::kU8},
    {"u2", ElementType::kU16},
    {"u4", ElementType::kU32},
    {"u8", ElementType::kU64},
    {"f2", ElementType::kF16},
    {"f4", ElementType::kF32},
    {"f8", ElementType::kF64},
}};

struct Descr {
  ElementType type;
  bool big_endian;
};

// "<f4" is little-endian, ">f4" is big-endian, "=f4" or "f4" is this machine's order. "|" means
// that order does not apply; it is valid only for elements of one byte.
std::optional<Descr> ParseDescr(std::string_view descr) {
  char order = '=';
  if (!descr.empty() && std::string_view("<>=|").find(descr[0]) != std::string_view::npos) {
    order = descr[0];
    descr.remove_prefix(1);
  }
  if (descr == "?") descr = "b1";
  for (const DescrRow& row : kDescrs) {
    if (row.kind_and_size != descr) continue;
    if (order == '|' && ElementSize(row.type) > 1) return std::nullopt;
    const bool native_is_big = std::endian::native == std::endian::big;
    return Descr{row.type, order == '>' || (order == '=' && native_is_big)};
  }
  return std::nullopt;
}

uint32_t LittleEndian(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

void SwapBytes(std::span<std::byte> data, size_t element_size) {
  for (size_t i = 0; i < data.size(); i += element_size) {
    std::reverse(data.begin() + i, data.begin() + i + element_size);
  }
}

// Copies Fortran order (first index fastest) to C order (last index fastest). Walks the output in
// order and tracks the offset of the matching input element by an odometer over the indices.
template <size_t kSize>
void FromFortranOrder(const char* in, std::span<const int64_t> shape, std::byte* out) {
  std::vector<int64_t> stride(shape.size()), index(shape.size(), 0);
  int64_t count = 1;
  for (size_t d = 0; d < shape.size(); ++d) {
    stride[d] = count;
    count *= shape[d];
  }
  int64_t offset = 0;
  for (int64_t i = 0; i < count; ++i) {
    std::memcpy(out + i * kSize, in + offset * kSize, kSize);
    for (size_t d = shape.size(); d-- > 0;) {
      offset += stride[d];
      if (++index[d] < shape[d]) break;
      offset -= stride[d] * shape[d];
      index[d] = 0;
    }
  }
}

void CopyElements(std::string_view in, bool fortran_order, HostTensor& out) {
  if (out.data.empty()) return;
  if (!fortran_order || out.shape.size() < 2) {
    std::memcpy(out.data.data(), in.data(), in.size());
    return;
  }
  switch (ElementSize(out.type)) {
    case 1:
      return FromFortranOrder<1>(in.data(), out.shape, out.data.data());
    case 2:
      return FromFortranOrder<2>(in.data(), out.shape, out.data.data());
    case 4:
      return FromFortranOrder<4>(in.data(), out.shape, out.data.data());
    default:
      return FromFortranOrder<8>(in.data(), out.shape, out.data.data());
  }
}

}  // namespace

absl::StatusOr<NpyFile> NpyFile::Parse(std::string_view bytes, std::string_view name) {
  if (bytes.substr(0, kMagic.size()) != kMagic) {
    return InvalidArgument(name, ": not an npy file (it does not begin with \\x93NUMPY)");
  }
  if (bytes.size() < kMagic.size() + 2)
    return InvalidArgument(name, ": npy file ends in the magic");
  const int major = static_cast<unsigned char>(bytes[6]);
  const int minor = static_cast<unsigned char>(bytes[7]);
  if (major < 1 || major > 3 || minor != 0) {
    return Unimplemented(name, ": npy format version ", major, ".", minor,
                         "; 1.0, 2.0, 3.0 are known");
  }
  const size_t length_size = major == 1 ? 2 : 4;
  std::string_view rest = bytes.substr(kMagic.size() + 2);
  if (rest.size() < length_size)
    return InvalidArgument(name, ": npy file ends in the header length");
  const size_t header_size = LittleEndian(rest.substr(0, length_size));
  rest.remove_prefix(length_size);
  if (header_size > rest.size()) {
    return InvalidArgument(name, ": the npy header is said to be ", header_size, " bytes, but ",
                           rest.size(), " are left in the file");
  }
  TG_ASSIGN_OR_RETURN(NpyHeaderFields fields, ParseNpyHeader(rest.substr(0, header_size), name));
  rest.remove_prefix(header_size);

  const std::optional<Descr> descr = ParseDescr(fields.descr);
  if (!descr.has_value()) {
    return Unimplemented(name, ": npy dtype '", std::string_view(fields.descr).substr(0, 40),
                         "'; bool, i1 to i8, u1 to u8, f2, f4 and f8 can be read");
  }
  const std::optional<size_t> size = NumBytes(descr->type, fields.shape);
  if (!size.has_value()) {
    return InvalidArgument(name, ": the shape of ", TypeAndShape(descr->type, fields.shape),
                           " has no size in 64 bits");
  }
  if (rest.size() != *size) {
    return InvalidArgument(name, ": ", TypeAndShape(descr->type, fields.shape), " needs ", *size,
                           " bytes of data, the file has ", rest.size(),
                           rest.size() < *size ? " (truncated)" : " (trailing bytes)");
  }
  NpyFile file;
  file.type_ = descr->type;
  file.shape_ = std::move(fields.shape);
  file.fortran_order_ = fields.fortran_order;
  file.big_endian_ = descr->big_endian;
  file.data_ = rest;
  return file;
}

absl::StatusOr<NpyFile> NpyFile::Open(const std::string& path) {
  TG_ASSIGN_OR_RETURN(MappedFile mapped, MappedFile::Open(path));
  TG_ASSIGN_OR_RETURN(NpyFile file, Parse(mapped.bytes(), path));
  file.file_ = std::move(mapped);
  return file;
}

absl::StatusOr<HostTensor> NpyFile::Read() const {
  TG_ASSIGN_OR_RETURN(HostTensor tensor, MakeHostTensor(type_, shape_));
  CopyElements(data_, fortran_order_, tensor);
  const bool native_is_big = std::endian::native == std::endian::big;
  if (big_endian_ != native_is_big) SwapBytes(tensor.data, ElementSize(tensor.type));
  if (tensor.type == ElementType::kBool) NormalizeBools(tensor.data);
  return tensor;
}

absl::StatusOr<HostTensor> ParseNpy(std::string_view bytes, std::string_view name) {
  TG_ASSIGN_OR_RETURN(const NpyFile file, NpyFile::Parse(bytes, name));
  return file.Read();
}

absl::StatusOr<HostTensor> ReadNpy(const std::string& path) {
  TG_ASSIGN_OR_RETURN(const NpyFile file, NpyFile::Open(path));
  return file.Read();
}

absl::StatusOr<std::string> NpyHeader(const HostTensor& tensor) {
  const auto row = std::find_if(kDescrs.begin(), kDescrs.end(),
                                [&](const DescrRow& r) { return r.type == tensor.type; });
  if (row == kDescrs.end()) {
    return InvalidArgument("npy has no ", ElementTypeName(tensor.type),
                           "; convert to f32, or write safetensors");
  }
  if (tensor.shape.size() > kNpyMaxRank) {
    return InvalidArgument("npy has at most ", kNpyMaxRank, " dimensions, not ",
                           tensor.shape.size());
  }
  if (NumBytes(tensor.type, tensor.shape) != tensor.data.size()) {
    return InvalidArgument(TypeAndShape(tensor.type, tensor.shape), " with ", tensor.data.size(),
                           " bytes of data");
  }
  const char native = std::endian::native == std::endian::big ? '>' : '<';
  std::string dict = Cat("{'descr': '", ElementSize(tensor.type) == 1 ? '|' : native,
                         row->kind_and_size, "', 'fortran_order': False, 'shape': (");
  for (size_t i = 0; i < tensor.shape.size(); ++i)
    dict += Cat(i == 0 ? "" : " ", tensor.shape[i], ",");
  if (tensor.shape.size() > 1) dict.pop_back();  // keeps the comma of (3,) but not of (3, 4)
  dict += "), }";
  // The header has at most 64 dimensions of 19 digits, which always fit the 65535 bytes of version
  // 1.
  const size_t prefix = kMagic.size() + 4;
  const size_t total =
      (prefix + dict.size() + 1 + kDataAlignment - 1) / kDataAlignment * kDataAlignment;
  dict.resize(total - prefix - 1, ' ');
  dict += '\n';
  std::string out(kMagic);
  out += std::string_view("\x01\x00", 2);
  out += static_cast<char>(dict.size() & 0xff);
  out += static_cast<char>(dict.size() >> 8);
  return out + dict;
}

absl::Status WriteNpy(const std::string& path, const HostTensor& tensor) {
  absl::StatusOr<std::string> header = NpyHeader(tensor);
  if (!header.ok()) return InvalidArgument(path, ": ", std::string(header.status().message()));
  const std::string_view data(reinterpret_cast<const char*>(tensor.data.data()),
                              tensor.data.size());
  return WriteFile(path, std::array<std::string_view, 2>{*header, data});
}

}  // namespace tg::runtime
