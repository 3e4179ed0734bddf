#include "model/source.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <utility>

#include "base/status.h"

namespace tg::model {

MemoryFile::MemoryFile(int descriptor)
    : descriptor_(descriptor), path_(Cat("/proc/self/fd/", descriptor)) {}

MemoryFile::~MemoryFile() { close(descriptor_); }

absl::StatusOr<std::shared_ptr<MemoryFile>> MemoryFile::Create(std::string_view bytes) {
  const int descriptor = memfd_create("tg", MFD_CLOEXEC);
  if (descriptor < 0) return absl::ResourceExhaustedError("no memory for the bytes of a model");
  std::shared_ptr<MemoryFile> file(new MemoryFile(descriptor));
  while (!bytes.empty()) {
    const ssize_t written = write(descriptor, bytes.data(), bytes.size());
    if (written <= 0) return absl::ResourceExhaustedError("no memory for the bytes of a model");
    bytes.remove_prefix(static_cast<size_t>(written));
  }
  return file;
}

namespace {

absl::StatusOr<Source> Map(Source source) {
  TG_ASSIGN_OR_RETURN(runtime::MappedFile mapped, runtime::MappedFile::Open(source.file));
  source.mapped = std::make_shared<const runtime::MappedFile>(std::move(mapped));
  return source;
}

}  // namespace

absl::StatusOr<Source> Source::File(const std::string& path) {
  Source source;
  source.path = source.file = path;
  return Map(std::move(source));
}

absl::StatusOr<Source> Source::Bytes(std::string_view bytes, const std::string& path) {
  Source source;
  TG_ASSIGN_OR_RETURN(source.memory, MemoryFile::Create(bytes));
  source.path = path.empty() ? "<memory>" : path;
  source.file = source.memory->path();
  return Map(std::move(source));
}

std::string Source::file_name() const { return path.substr(path.rfind('/') + 1); }

}  // namespace tg::model
