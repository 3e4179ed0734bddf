// ArtifactFile: a .tgx file, mapped and checked.
#ifndef TG_RUNTIME_ARTIFACT_ARTIFACT_FILE_H_
#define TG_RUNTIME_ARTIFACT_ARTIFACT_FILE_H_

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/artifact/artifact.h"
#include "runtime/io/file.h"
#include "runtime/session/contents.h"

namespace tg::artifact {

// Whether bytes are meant as a .tgx file: by their beginning, or by the name, so that an error
// about a damaged beginning is about a .tgx file.
bool IsArtifact(std::string_view bytes, std::string_view path);
// The same for the file with this path.
bool IsArtifactFile(const std::string& path);

// What keeps contents valid.
struct MappedFiles {
  std::shared_ptr<const runtime::MappedFile> own;  // the .tgx file; null: its bytes were given
  std::vector<runtime::MappedFile> others;         // parallel to Artifact::files
};

class ArtifactFile {
 public:
  // Maps the file and reads all but its weights. Errors name the file and the place in it.
  // Files that have weights are mapped too. One that was written since the compile is an error if
  // it has another size or other contents, which are read for that.
  static absl::StatusOr<ArtifactFile> Open(const std::string& path);
  // The same for bytes, which `file` keeps; without it, contents are copied while the bytes are
  // there. `path` is for messages, and the folder of other files.
  static absl::StatusOr<ArtifactFile> Read(std::shared_ptr<const runtime::MappedFile> file,
                                           std::string_view bytes, const std::string& path);

  const Artifact& artifact() const { return artifact_; }
  Artifact& artifact() { return artifact_; }
  std::string_view ContentsOf(const Contents& contents) const {
    const std::string_view file =
        contents.file == 0 ? bytes_ : files_->others[contents.file - 1].bytes();
    return file.substr(contents.offset, contents.bytes);
  }
  // InvalidArgument if contents differ from what was written: all, or those in the .tgx file. Many
  // bytes are read by several threads.
  absl::Status VerifyContents() const;
  absl::Status VerifyOwnContents() const;

  // A reader of the contents, which keeps the file mapped.
  runtime::OpenContents OpenContents() const;

 private:
  absl::Status Verify(std::span<const Contents* const> contents) const;
  std::string PathOf(const Contents& contents) const;

  std::string path_;
  std::string_view bytes_;
  std::shared_ptr<const MappedFiles> files_;
  Artifact artifact_;
};

}  // namespace tg::artifact

#endif  // TG_RUNTIME_ARTIFACT_ARTIFACT_FILE_H_
