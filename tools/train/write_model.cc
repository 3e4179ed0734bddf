#include "tools/train/write_model.h"

#include <set>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/write_file.h"
#include "ir/text/printer.h"
#include "runtime/io/safetensors.h"

namespace tg::train {
namespace {

using Named = std::vector<std::pair<std::string, const runtime::HostTensor*>>;

absl::Status WriteTensors(const std::string& path, const Named& named) {
  std::vector<runtime::NamedTensor> tensors;
  for (const auto& [name, t] : named) tensors.push_back({name, t->type, t->shape, t->data});
  return runtime::WriteSafetensors(path, std::move(tensors));
}

// The name of the tensor in the model's file, unless another weight has it too.
Named NamesOf(const Module& model, const Tensors& weights) {
  std::multiset<std::string> used;
  const auto name_of = [&](const std::string& symbol) {
    const BufferDecl* decl = model.FindBuffer(symbol);
    return decl && !decl->tensor.empty() ? decl->tensor : symbol;
  };
  for (const auto& [symbol, tensor] : weights) used.insert(name_of(symbol));
  Named named;
  for (const auto& [symbol, tensor] : weights) {
    const std::string name = name_of(symbol);
    named.emplace_back(used.count(name) > 1 ? symbol : name, &tensor);
  }
  return named;
}

}  // namespace

absl::Status CheckOutputName(const std::string& path) {
  for (const char* ending : {".safetensors", ".uop", ".onnx"}) {
    if (path.ends_with(ending)) return absl::OkStatus();
  }
  return InvalidArgument("-o: ", path, " ends with none of .safetensors, .uop and .onnx");
}

absl::Status WriteModel(const std::string& path, const Module& model, const Tensors& weights,
                        const Tensors& others) {
  TG_RETURN_IF_ERROR(CheckOutputName(path));
  if (path.ends_with(".safetensors")) return WriteTensors(path, NamesOf(model, weights));
  const std::string tensors = path.substr(0, path.size() - 4) + ".safetensors";
  const std::unique_ptr<Module> copy = Clone(model);
  Named named;
  for (const Tensors* part : {&weights, &others}) {
    for (const auto& [symbol, tensor] : *part) named.emplace_back(symbol, &tensor);
  }
  for (const auto& [symbol, tensor] : named) {
    for (BufferDecl& b : copy->buffers) {
      if (b.name != symbol) continue;
      b.file = tensors.substr(tensors.rfind('/') + 1);  // npos + 1 is 0
      b.tensor = symbol;
      b.offset.reset();
      b.run_bytes = b.stride_bytes = 0;
      b.values.reset();
    }
  }
  TG_RETURN_IF_ERROR(WriteTensors(tensors, named));
  return WriteFile(path, PrintModule(*copy));
}

}  // namespace tg::train
