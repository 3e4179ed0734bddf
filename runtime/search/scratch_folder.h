// A folder for the files of a search, which goes with it.
#ifndef TG_RUNTIME_SEARCH_SCRATCH_FOLDER_H_
#define TG_RUNTIME_SEARCH_SCRATCH_FOLDER_H_

#include <string>
#include <utility>

#include "absl/status/statusor.h"

namespace tg::search {

class ScratchFolder {
 public:
  // Makes a folder in the system's for temporary files. Removes those of processes that were
  // killed.
  static absl::StatusOr<ScratchFolder> Make();
  ScratchFolder(ScratchFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  ScratchFolder& operator=(ScratchFolder&&) = delete;
  ~ScratchFolder();

  const std::string& path() const { return path_; }

 private:
  explicit ScratchFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

}  // namespace tg::search

#endif  // TG_RUNTIME_SEARCH_SCRATCH_FOLDER_H_
