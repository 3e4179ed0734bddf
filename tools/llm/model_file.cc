#include "tools/llm/model_file.h"

#include <utility>

#include "base/status.h"

namespace tg::llm {

absl::StatusOr<std::unique_ptr<ModelFile>> ModelFile::Open(const std::string& path) {
  std::unique_ptr<ModelFile> file(new ModelFile());
  const auto open = [&](const std::string& name) -> absl::StatusOr<std::string_view> {
    TG_ASSIGN_OR_RETURN(runtime::MappedFile mapped, runtime::MappedFile::Open(name));
    return file->files_.insert_or_assign(name, std::move(mapped)).first->second.bytes();
  };
  TG_ASSIGN_OR_RETURN(file->model_, gguf::ReadModel(path, open));
  return file;
}

}  // namespace tg::llm
