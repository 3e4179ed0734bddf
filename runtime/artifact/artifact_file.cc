#include "runtime/artifact/artifact_file.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "base/status.h"
#include "runtime/artifact/format.h"

namespace tg::artifact {
namespace {

using Files = std::shared_ptr<const MappedFiles>;

class MappedContents final : public runtime::ContentsReader {
 public:
  using ByName = std::map<std::string, std::string_view, std::less<>>;
  MappedContents(Files files, const ByName& by_name)
      : files_(std::move(files)), by_name_(by_name) {}

  absl::StatusOr<std::span<const std::byte>> Read(const BufferDecl& buffer) override {
    const auto found = by_name_.find(buffer.name);
    if (found == by_name_.end()) return NotFound("there are no contents of @", buffer.name);
    return std::as_bytes(std::span(found->second.data(), found->second.size()));
  }
  std::shared_ptr<const void> owner() const override {
    return files_->own == nullptr ? nullptr : files_;
  }

 private:
  Files files_;
  ByName by_name_;
};

absl::StatusOr<Header> ReadHeader(std::string_view bytes) {
  if (!bytes.starts_with(kMagic)) return InvalidArgument("it is no .tgx file");
  Header header;
  if (bytes.size() < sizeof header) {
    return InvalidArgument("it ends at byte ", bytes.size(), ", within its head");
  }
  std::memcpy(&header, bytes.data(), sizeof header);
  if (header.version != kVersion) {
    return InvalidArgument("its format has version ", header.version, ", and this program reads ",
                           kVersion, "; compile the model again");
  }
  if (header.header_hash != HeaderHash(header)) {
    return InvalidArgument("its head, bytes 0 to ", sizeof header, ", is damaged");
  }
  if (header.file_bytes != bytes.size()) {
    return InvalidArgument("it has ", bytes.size(), " bytes, not ", header.file_bytes,
                           ": it was cut off");
  }
  const auto is_inside = [&](uint64_t offset, uint64_t size) {
    return offset >= sizeof header && offset <= bytes.size() && size <= bytes.size() - offset;
  };
  if (!is_inside(header.weights_offset, header.weights_bytes) ||
      header.weights_offset % kPageBytes != 0 ||
      !is_inside(header.plan_offset, header.plan_bytes)) {
    return InvalidArgument("a section is outside of it");
  }
  return header;
}

// The path of a file that is named relative to the folder of the .tgx file.
std::string AdjacentPath(const std::string& artifact, const std::string& name) {
  const size_t slash = artifact.rfind('/');
  if (name.starts_with('/') || slash == std::string::npos) return name;
  return artifact.substr(0, slash + 1) + name;
}

absl::StatusOr<runtime::MappedFile> OpenWeights(const WeightsFile& weights,
                                                const std::string& artifact) {
  const std::string path = AdjacentPath(artifact, weights.path);
  TG_ASSIGN_OR_RETURN(runtime::MappedFile file, runtime::MappedFile::Open(path));
  if (file.bytes().size() == weights.bytes) return file;
  return InvalidArgument("its weights are in ", path, ", which has ", file.bytes().size(),
                         " bytes, not ", weights.bytes, ": it is not the file that was compiled");
}

}  // namespace

bool IsArtifact(std::string_view bytes, std::string_view path) {
  return bytes.starts_with(kMagic) || path.ends_with(".tgx");
}

bool IsArtifactFile(const std::string& path) {
  return runtime::BeginsWith(path, kMagic) || path.ends_with(".tgx");
}

absl::StatusOr<ArtifactFile> ArtifactFile::Open(const std::string& path) {
  TG_ASSIGN_OR_RETURN(runtime::MappedFile mapped, runtime::MappedFile::Open(path));
  auto file = std::make_shared<const runtime::MappedFile>(std::move(mapped));
  const std::string_view bytes = file->bytes();
  return Read(std::move(file), bytes, path);
}

absl::StatusOr<ArtifactFile> ArtifactFile::Read(std::shared_ptr<const runtime::MappedFile> mapped,
                                                std::string_view bytes, const std::string& path) {
  const auto fail = [&](const absl::Status& status) {
    return absl::Status(status.code(), Cat(path, ": ", std::string(status.message())));
  };
  const absl::StatusOr<Header> header = ReadHeader(bytes);
  if (!header.ok()) return fail(header.status());
  const std::string_view plan = bytes.substr(header->plan_offset, header->plan_bytes);
  if (Hash(plan) != header->plan_hash) {
    return fail(InvalidArgument("its plan, bytes ", header->plan_offset, " to ",
                                header->plan_offset + header->plan_bytes, ", is damaged"));
  }
  absl::StatusOr<Artifact> artifact =
      DecodePlan(plan, header->weights_offset, header->weights_bytes);
  if (!artifact.ok()) return fail(artifact.status());
  ArtifactFile file;
  file.path_ = path;
  file.bytes_ = bytes;
  file.artifact_ = *std::move(artifact);
  auto files = std::make_shared<MappedFiles>();
  files->own = std::move(mapped);
  for (const WeightsFile& weights : file.artifact_.files) {
    absl::StatusOr<runtime::MappedFile> opened = OpenWeights(weights, path);
    if (!opened.ok()) return fail(opened.status());
    files->others.push_back(*std::move(opened));
  }
  file.files_ = std::move(files);
  runtime::Executable& executable = file.artifact_.executable;
  executable.path = path;
  std::vector<const Contents*> written_since;
  // The declarations say that the contents are known, and where.
  for (const Contents& contents : file.artifact_.contents) {
    BufferDecl& decl = executable.buffers[static_cast<size_t>(contents.buffer)];
    decl.file = file.PathOf(contents);
    decl.offset = static_cast<int64_t>(contents.offset);
    if (contents.file == 0) continue;
    const WeightsFile& weights = file.artifact_.files[contents.file - 1];
    if (file.files_->others[contents.file - 1].modified() != weights.modified) {
      written_since.push_back(&contents);
    }
  }
  TG_RETURN_IF_ERROR(file.Verify(written_since));
  return file;
}

std::string ArtifactFile::PathOf(const Contents& contents) const {
  return contents.file == 0 ? path_ : AdjacentPath(path_, artifact_.files[contents.file - 1].path);
}

absl::Status ArtifactFile::Verify(std::span<const Contents* const> contents) const {
  constexpr uint64_t kBytesOfThread = uint64_t{16} << 20, kMaxThreads = 8;
  uint64_t bytes = 0;
  for (const Contents* c : contents) bytes += c->bytes;
  const uint64_t processors = std::max(1u, std::thread::hardware_concurrency());
  std::vector<std::thread> threads(std::min({bytes / kBytesOfThread, processors - 1, kMaxThreads}));
  // The first of the damaged ones. Those behind it need not be read.
  std::atomic<size_t> next = 0, damaged = contents.size();
  std::mutex mutex;
  const auto work = [&] {
    for (size_t i = next++; i < damaged; i = next++) {
      if (Hash(ContentsOf(*contents[i])) == contents[i]->hash) continue;
      const std::lock_guard<std::mutex> lock(mutex);
      damaged = std::min<size_t>(damaged, i);
    }
  };
  for (std::thread& thread : threads) thread = std::thread(work);
  work();
  for (std::thread& thread : threads) thread.join();
  if (damaged == contents.size()) return absl::OkStatus();
  const Contents& c = *contents[damaged];
  const BufferDecl& decl = artifact_.executable.buffers[static_cast<size_t>(c.buffer)];
  return InvalidArgument(path_, ": the contents of @", decl.name, ", bytes ", c.offset, " to ",
                         c.offset + c.bytes, c.file == 0 ? "" : Cat(" of ", PathOf(c)),
                         c.file == 0 ? ", are damaged" : ", are not those that were compiled");
}

absl::Status ArtifactFile::VerifyContents() const {
  std::vector<const Contents*> all;
  for (const Contents& c : artifact_.contents) all.push_back(&c);
  return Verify(all);
}

absl::Status ArtifactFile::VerifyOwnContents() const {
  std::vector<const Contents*> own;
  for (const Contents& c : artifact_.contents) {
    if (c.file == 0) own.push_back(&c);
  }
  return Verify(own);
}

runtime::OpenContents ArtifactFile::OpenContents() const {
  MappedContents::ByName by_name;
  for (const Contents& c : artifact_.contents) {
    by_name[artifact_.executable.buffers[static_cast<size_t>(c.buffer)].name] = ContentsOf(c);
  }
  return [files = files_, by_name = std::move(by_name)] {
    return std::make_unique<MappedContents>(files, by_name);
  };
}

}  // namespace tg::artifact
