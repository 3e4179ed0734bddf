// One GGUF file: what is in it, with nothing said about other files of a split model.
#ifndef TG_FRONTEND_GGUF_FILE_READER_H_
#define TG_FRONTEND_GGUF_FILE_READER_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "frontend/gguf/gguf.h"

namespace tg::gguf {

struct File {
  std::vector<std::pair<std::string_view, MetadataValue>> metadata;
  std::vector<Tensor> tensors;
};

// `path` is for messages; the tensors get the file number `file`.
absl::StatusOr<File> ReadGgufFile(std::string_view bytes, const std::string& path, int file);

}  // namespace tg::gguf

#endif  // TG_FRONTEND_GGUF_FILE_READER_H_
