// What a file is that is no text: told by its first bytes, so that an error can name it.
#ifndef TG_FRONTEND_FILE_KIND_H_
#define TG_FRONTEND_FILE_KIND_H_

#include <string_view>

namespace tg {

struct FileKind {
  std::string_view name;    // "an ONNX model"
  std::string_view advice;  // what to do with it instead; may be empty
  bool (*matches)(std::string_view bytes);
};

// Null where the bytes, of which the first few thousand do, are of no kind that is known.
const FileKind* KindOfFile(std::string_view bytes);

}  // namespace tg

#endif  // TG_FRONTEND_FILE_KIND_H_
