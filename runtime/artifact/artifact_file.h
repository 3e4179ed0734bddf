// ArtifactFile: a .tgx file, mapped and checked.
#ifndef TG_RUNTIME_ARTIFACT_ARTIFACT_FILE_H_
#define TG_RUNTIME_ARTIFACT_ARTIFACT_FILE_H_

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/artifact/artifact.h"
#include "runtime/io/file.h"
#include "runtime/session/contents.h"

namespace tg::artifact {

// Whether bytes begin as a .tgx file does.
bool IsArtifact(std::string_view bytes);

class ArtifactFile {
 public:
  // Maps the file and reads all but its weights. Errors name the file and the place in it.
  static absl::StatusOr<ArtifactFile> Open(const std::string& path);
  // The same for bytes; `path` is for messages.
  static absl::StatusOr<ArtifactFile> Read(std::shared_ptr<const runtime::MappedFile> file,
                                           std::string_view bytes, const std::string& path);

  const Artifact& artifact() const { return artifact_; }
  Artifact& artifact() { return artifact_; }
  std::string_view ContentsOf(const Contents& contents) const {
    return bytes_.substr(contents.offset, contents.bytes);
  }
  // InvalidArgument if contents differ from what was written.
  absl::Status VerifyContents() const;

  // A reader of the contents, which keeps the file mapped.
  runtime::OpenContents OpenContents() const;

 private:
  std::string path_;
  std::shared_ptr<const runtime::MappedFile> file_;
  std::string_view bytes_;
  Artifact artifact_;
};

}  // namespace tg::artifact

#endif  // TG_RUNTIME_ARTIFACT_ARTIFACT_FILE_H_
