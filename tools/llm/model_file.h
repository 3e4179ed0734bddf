// A GGUF model on disk: its files, mapped, and what they hold.
#ifndef TG_TOOLS_LLM_MODEL_FILE_H_
#define TG_TOOLS_LLM_MODEL_FILE_H_

#include <map>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "frontend/gguf/gguf.h"
#include "runtime/io/file.h"

namespace tg::llm {

class ModelFile {
 public:
  // `path` names the first file of a model in several. Errors are those of gguf::ReadModel.
  static absl::StatusOr<std::unique_ptr<ModelFile>> Open(const std::string& path);

  const gguf::Model& model() const { return model_; }

 private:
  ModelFile() = default;

  std::map<std::string, runtime::MappedFile> files_;
  gguf::Model model_;
};

}  // namespace tg::llm

#endif  // TG_TOOLS_LLM_MODEL_FILE_H_
