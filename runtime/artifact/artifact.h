// Artifact: what a .tgx file says, but for the bytes of its weights (docs/artifact.md).
#ifndef TG_RUNTIME_ARTIFACT_ARTIFACT_H_
#define TG_RUNTIME_ARTIFACT_ARTIFACT_H_

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/plan/executable.h"

namespace tg::artifact {

// The device for which machine code was made.
struct MadeFor {
  bool is_native = false;
  std::string name, platform;
  std::string key;  // equal where the code runs: the processor's, or that of the driver's binaries
};

// Another file that has contents: the model, or one that it names.
struct WeightsFile {
  std::string path;  // relative to the folder of the .tgx file
  uint64_t bytes = 0;
  int64_t modified = 0;  // when it was last written, in nanoseconds since 1970
};

// The contents of a param or state.
struct Contents {
  int buffer = 0;
  uint32_t file = 0;               // 0: the .tgx file; else 1 + the index in Artifact::files
  uint64_t offset = 0, bytes = 0;  // in that file
  uint64_t hash = 0;
};

// Texts that are compressed together (compress.h).
struct PackedTexts {
  std::vector<uint32_t> lengths;
  std::string packed;

  uint64_t bytes() const { return std::accumulate(lengths.begin(), lengths.end(), uint64_t{0}); }
};

// What a tool needs of a model that is no part of its graphs.
struct Attachment {
  std::string name;
  PackedTexts text;  // one
};
Attachment MakeAttachment(std::string name, const std::string& text);

struct Artifact {
  std::string tool;               // that wrote the file, with its version
  std::string model;              // the file that was compiled
  std::vector<MadeFor> made_for;  // by device of the executable
  // Without the texts that are packed, until they are unpacked.
  runtime::Executable executable;
  // By device: the sources of its kernels, then of its programs; the binaries of its programs.
  std::vector<PackedTexts> sources, binaries;
  std::vector<Attachment> attachments;
  std::vector<WeightsFile> files;
  std::vector<Contents> contents;
};

// Moves the texts of an executable that was just made to `sources` and `binaries`.
void PackTexts(Artifact& artifact);
// Sets the texts of one device in the executable. InvalidArgument if the packed ones are damaged.
absl::Status UnpackSources(Artifact& artifact, size_t device);
absl::Status UnpackBinaries(Artifact& artifact, size_t device);

// The text of the attachment with this name. NotFound if there is none.
absl::StatusOr<std::string> UnpackAttachment(const Artifact& artifact, std::string_view name);

// The bytes of the plan's section. Texts are packed.
std::string EncodePlan(Artifact artifact);

// The reverse of EncodePlan. InvalidArgument, with the place, for bytes that are not complete or
// say what no run can do: each index, count, name and size is checked, so that a plan runs within
// its buffers as far as its kernels do. `weights_offset` and `weights_bytes` are those of the
// header.
absl::StatusOr<Artifact> DecodePlan(std::string_view bytes, uint64_t weights_offset,
                                    uint64_t weights_bytes);

}  // namespace tg::artifact

#endif  // TG_RUNTIME_ARTIFACT_ARTIFACT_H_
