// Opens models of every format as sessions: tg's text, graphs that tinygrad prints, ONNX, GGUF, and
// compiled models (.tgx). With runtime/session/session.h, this is what a program that embeds tg
// includes (docs/embedding.md); neither header includes OpenCL's.
#ifndef TG_MODEL_OPEN_H_
#define TG_MODEL_OPEN_H_

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/decls.h"
#include "model/read.h"
#include "model/source.h"
#include "runtime/session/device_session.h"
#include "runtime/session/open.h"
#include "runtime/session/session.h"

namespace tg::model {

// What is read, and how it runs. A format may also be "tgx", a compiled model, for which sizes and
// inputs are an error.
struct OpenOptions : runtime::OpenOptions {
  OpenOptions() = default;
  explicit OpenOptions(std::string_view device) : runtime::OpenOptions(device) {}
  ReadOptions read;
};

// Whether the source is a compiled model.
bool IsCompiled(const Source& source, std::string_view format);

struct OpenModel {
  std::unique_ptr<runtime::Session> session;
  runtime::DeviceSession* device = nullptr;  // the session; null: it is the interpreter
  Declarations declarations;                 // as the model has them: passes declare more
  std::vector<std::string> graphs;           // but @init
  std::map<std::string, std::string, std::less<>> names;  // as in ReadModel
};
absl::StatusOr<OpenModel> Open(const Source& source, const OpenOptions& options);

// Opens a file, by default on a GPU if there is one, else on the CPU.
absl::StatusOr<std::unique_ptr<runtime::Session>> OpenSession(const std::string& path,
                                                              const OpenOptions& options);
absl::StatusOr<std::unique_ptr<runtime::Session>> OpenSession(const std::string& path,
                                                              std::string_view device = "");

// Writes a compiled model to `output`. `tool` is what the file says that it was written by.
absl::Status Compile(const Source& source, const OpenOptions& options, const std::string& tool,
                     const std::string& output);

}  // namespace tg::model

#endif  // TG_MODEL_OPEN_H_
