#include "runtime/session/params.h"

#include <cstring>
#include <limits>
#include <utility>

#include "base/status.h"
#include "ir/interpret/host_buffer.h"
#include "runtime/session/tensors.h"

namespace tg::runtime {
namespace {

// Returns the path of `name` in the same folder as `file`.
std::string Sibling(const std::string& file, const std::string& name) {
  const size_t slash = file.rfind('/');
  if (name.starts_with('/') || slash == std::string::npos) return name;
  return file.substr(0, slash + 1) + name;
}

absl::Status For(const BufferDecl& buffer, const absl::Status& status) {
  return absl::Status(status.code(), Cat(RoleName(buffer.role), " @", buffer.name, ": ",
                                         std::string(status.message())));
}

}  // namespace

absl::StatusOr<std::span<const std::byte>> ParamReader::Read(const BufferDecl& buffer) {
  return buffer.values ? ReadValues(buffer) : ReadFile(buffer);
}

absl::StatusOr<std::optional<ParamReader::Place>> ParamReader::Find(const BufferDecl& buffer) {
  if (buffer.values || buffer.run_bytes != buffer.stride_bytes) return std::nullopt;
  TG_RETURN_IF_ERROR(Read(buffer).status());
  std::string path = Sibling(module_.path, buffer.file);
  const uint64_t offset = buffer.offset ? static_cast<uint64_t>(*buffer.offset)
                                        : files_[path]->Find(buffer.tensor)->offset;
  return Place{std::move(path), offset};
}

absl::StatusOr<std::span<const std::byte>> ParamReader::ReadFile(const BufferDecl& buffer) {
  const std::string path = Sibling(module_.path, buffer.file);
  if (buffer.offset) return ReadBytes(buffer, path);
  std::unique_ptr<SafetensorsFile>& file = files_[path];
  if (file == nullptr) {
    absl::StatusOr<SafetensorsFile> opened = SafetensorsFile::Open(path);
    if (!opened.ok()) return For(buffer, opened.status());
    file = std::make_unique<SafetensorsFile>(*std::move(opened));
  }
  const SafetensorsEntry* entry = file->Find(buffer.tensor);
  if (entry == nullptr) {
    // The status's message lists close names.
    return For(buffer, file->Read(buffer.tensor).status());
  }
  VarMap vars;
  const absl::Status fits = CheckTensor(module_, buffer, entry->type, entry->shape, vars);
  if (!fits.ok()) {
    return absl::Status(fits.code(),
                        Cat(path, ", tensor '", buffer.tensor, "': ", std::string(fits.message())));
  }
  return std::span(reinterpret_cast<const std::byte*>(entry->bytes.data()), entry->bytes.size());
}

absl::StatusOr<std::span<const std::byte>> ParamReader::ReadBytes(const BufferDecl& buffer,
                                                                  const std::string& path) {
  auto file = plain_files_.find(path);
  if (file == plain_files_.end()) {
    absl::StatusOr<MappedFile> opened = MappedFile::Open(path);
    if (!opened.ok()) return For(buffer, opened.status());
    file = plain_files_.emplace(path, *std::move(opened)).first;
  }
  TG_ASSIGN_OR_RETURN(const size_t size, BufferBytes(module_, buffer));
  const std::string_view bytes = file->second.bytes();
  const auto offset = static_cast<size_t>(*buffer.offset);
  const auto run = static_cast<size_t>(buffer.run_bytes);
  const auto stride = static_cast<size_t>(buffer.stride_bytes);
  const size_t runs = run == 0 ? 0 : size / run;
  // Bytes from the first element to the last one. The verifier bounds all factors, but not the
  // product.
  size_t extent = size;
  if (runs > 0 && (__builtin_mul_overflow(runs - 1, stride, &extent) ||
                   __builtin_add_overflow(extent, run, &extent))) {
    extent = std::numeric_limits<size_t>::max();
  }
  if (offset > bytes.size() || extent > bytes.size() - offset) {
    return For(buffer, InvalidArgument(path, " has ", bytes.size(), " bytes, but ", extent,
                                       " are read from byte ", offset));
  }
  const auto* from = reinterpret_cast<const std::byte*>(bytes.data()) + offset;
  if (run == 0 || run == stride) return std::span(from, size);
  packed_.resize(size);
  for (size_t i = 0; i < runs; ++i) std::memcpy(&packed_[i * run], from + i * stride, run);
  return std::span<const std::byte>(packed_);
}

absl::StatusOr<std::span<const std::byte>> ParamReader::ReadValues(const BufferDecl& buffer) {
  TG_ASSIGN_OR_RETURN(const size_t bytes, BufferBytes(module_, buffer));
  const Scalar scalar = buffer.dtype.scalar();
  const auto count = bytes / static_cast<size_t>(ByteSize(scalar));
  if (count != buffer.values->size()) {
    return InvalidArgument("param @", buffer.name, " is ", DeclaredType(buffer), ", so it has ",
                           count, " elements, but ", buffer.values->size(), " values");
  }
  packed_.resize(bytes);
  for (size_t i = 0; i < count; ++i)
    interpret::StoreBits(scalar, packed_.data(), i, (*buffer.values)[i]);
  return std::span<const std::byte>(packed_);
}

}  // namespace tg::runtime
