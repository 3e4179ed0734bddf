// Writes .tgx files.
#ifndef TG_RUNTIME_ARTIFACT_WRITE_ARTIFACT_H_
#define TG_RUNTIME_ARTIFACT_WRITE_ARTIFACT_H_

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/artifact/artifact.h"

namespace tg::artifact {

// Returns the contents of a buffer, valid until the next call.
using ReadContents = std::function<absl::StatusOr<std::span<const std::byte>>(int buffer)>;

// Writes the file as a whole or not at all. Of `artifact.contents` only the buffers are set, and
// the places of those in other files; they are read one at a time.
absl::Status WriteArtifact(const std::string& path, Artifact artifact, const ReadContents& read);

}  // namespace tg::artifact

#endif  // TG_RUNTIME_ARTIFACT_WRITE_ARTIFACT_H_
