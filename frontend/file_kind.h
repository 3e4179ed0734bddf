// Recognizes binary files by their first bytes, so that an error can name the kind of the file.
#ifndef TG_FRONTEND_FILE_KIND_H_
#define TG_FRONTEND_FILE_KIND_H_

#include <string_view>

namespace tg::frontend {

struct FileKind {
  std::string_view name;    // "an ONNX model"
  std::string_view advice;  // what to do instead; may be empty
  bool (*matches)(std::string_view bytes);
};

// Returns null if the kind is not known. `bytes`: the first few thousand bytes are enough.
const FileKind* KindOfFile(std::string_view bytes);

}  // namespace tg::frontend

#endif  // TG_FRONTEND_FILE_KIND_H_
