#include "frontend/gguf/gguf.h"

#include <cstdio>

#include "base/status.h"
#include "frontend/gguf/file_reader.h"

namespace tg::gguf {
namespace {

constexpr TensorTypeInfo kTypes[] = {
#define TYPE(number, name, elements, bytes) {TensorType::k##name, #name, elements, bytes},
#include "frontend/gguf/tensor_types.def"
#undef TYPE
};

constexpr int64_t kMaxSplits = 9999;

// "model-00001-of-00003.gguf" and number 1: "model-00002-of-00003.gguf".
absl::StatusOr<std::string> PathOfSplit(const std::string& first, int64_t number, int64_t count) {
  char from[40], to[40];
  std::snprintf(from, sizeof from, "-%05d-of-%05d.gguf", 1, static_cast<int>(count));
  if (!first.ends_with(from)) {
    return InvalidArgument(first, ": the model is in ", count,
                           " files, but the name of the first does not ", "end with ", from);
  }
  std::snprintf(to, sizeof to, "-%05d-of-%05d.gguf", static_cast<int>(number) + 1,
                static_cast<int>(count));
  return first.substr(0, first.size() - std::char_traits<char>::length(from)) + to;
}

absl::StatusOr<File> OpenAndRead(const std::string& path, const FileOpener& open, int number) {
  absl::StatusOr<std::string_view> bytes = open(path);
  if (!bytes.ok()) return bytes.status();
  return ReadGgufFile(*bytes, path, number);
}

absl::Status AddTensors(const File& file, const std::string& path, Model& model) {
  for (const Tensor& t : file.tensors) {
    if (!model.tensors.emplace(t.name, t).second) {
      return InvalidArgument(path, ": tensor '", t.name,
                             "' is in an earlier file of the model too");
    }
  }
  return absl::OkStatus();
}

const int64_t* FindInt(const File& file, std::string_view key) {
  for (const auto& [name, value] : file.metadata) {
    if (name == key) return std::get_if<int64_t>(&value);
  }
  return nullptr;
}

}  // namespace

std::span<const TensorTypeInfo> AllTensorTypes() { return kTypes; }

const TensorTypeInfo* FindTensorType(uint32_t number) {
  for (const TensorTypeInfo& t : kTypes) {
    if (static_cast<uint32_t>(t.type) == number) return &t;
  }
  return nullptr;
}

const TensorTypeInfo& InfoOf(TensorType type) {
  return *FindTensorType(static_cast<uint32_t>(type));
}

const Tensor* Model::FindTensor(std::string_view name) const {
  const auto found = tensors.find(name);
  return found == tensors.end() ? nullptr : &found->second;
}

absl::StatusOr<Model> ReadModel(const std::string& path, const FileOpener& open) {
  absl::StatusOr<File> first = OpenAndRead(path, open, 0);
  if (!first.ok()) return first.status();
  Model model;
  model.paths.push_back(path);
  for (auto& [key, value] : first->metadata) model.metadata.emplace(key, std::move(value));
  if (absl::Status s = AddTensors(*first, path, model); !s.ok()) return s;
  const int64_t* number = model.Int("split.no");
  const int64_t* count = model.Int("split.count");
  if (!count || *count == 1) return model;
  if (number && *number != 0) {
    return InvalidArgument(path, ": this is file ", *number, " (from 0) of a model in ", *count,
                           " files; the first one is read");
  }
  if (*count < 1 || *count > kMaxSplits)
    return InvalidArgument(path, ": key 'split.count' is ", *count);
  for (int64_t i = 1; i < *count; ++i) {
    absl::StatusOr<std::string> next = PathOfSplit(path, i, *count);
    if (!next.ok()) return next.status();
    absl::StatusOr<File> file = OpenAndRead(*next, open, static_cast<int>(i));
    if (!file.ok()) return file.status();
    const int64_t* own = FindInt(*file, "split.no");
    const int64_t* all = FindInt(*file, "split.count");
    if (!own || *own != i || !all || *all != *count) {
      return InvalidArgument(*next, ": this is not file ", i, " (from 0) of a model in ", *count,
                             " files");
    }
    if (absl::Status s = AddTensors(*file, *next, model); !s.ok()) return s;
    model.paths.push_back(*std::move(next));
  }
  const int64_t* tensors = model.Int("split.tensors.count");
  if (tensors && static_cast<uint64_t>(*tensors) != model.tensors.size()) {
    return InvalidArgument(path, ": the model's files have ", model.tensors.size(),
                           " tensors, but key 'split.tensors.count' is ", *tensors);
  }
  return model;
}

}  // namespace tg::gguf
