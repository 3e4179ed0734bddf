// decode_blocks FILE.gguf [DEVICE]: decodes each tensor T of the file on a device ("reference": the
// interpreter) and compares every bit with tensor T.expected.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "frontend/common/graph_builder.h"
#include "frontend/gguf/gguf.h"
#include "frontend/gguf/weights.h"
#include "runtime/io/file.h"
#include "runtime/session/open.h"

namespace tg::llm {
namespace {

constexpr std::string_view kExpected = ".expected";

struct Decoded {
  std::string name;
  const gguf::Tensor* expected;
};

absl::Status Run(const std::string& path, const std::string& device) {
  TG_ASSIGN_OR_RETURN(const runtime::MappedFile file, runtime::MappedFile::Open(path));
  TG_ASSIGN_OR_RETURN(
      const gguf::Model model,
      gguf::ReadModel(path, [&](const std::string&) -> absl::StatusOr<std::string_view> {
        return file.bytes();
      }));
  auto module = std::make_unique<Module>();
  module->name = "blocks";
  Graph& graph = *module->graphs.emplace_back(std::make_unique<Graph>());
  graph.name = "main";
  frontend::GraphBuilder g(*module, graph.body);
  std::vector<const UOp*> values;
  std::vector<std::string> names;
  std::vector<Decoded> decoded;
  for (const auto& [name, tensor] : model.tensors) {
    if (name.ends_with(kExpected)) continue;
    const gguf::Tensor* expected = model.FindTensor(std::string(name) + std::string(kExpected));
    if (!expected || expected->shape != tensor.shape) {
      return InvalidArgument(path, ": there is no tensor ", name, kExpected);
    }
    const gguf::Weight weight = gguf::DeclareWeight(*module, tensor, path);
    const frontend::Value value = gguf::DecodeWhole(g, weight.type, gguf::Fields(g, weight));
    if (!value) return InvalidArgument(g.error());
    BufferDecl decl;
    decl.name = "decoded." + std::string(name);
    decl.dtype = Scalar::kF32;
    decl.role = Role::kOutput;
    for (const int64_t n : tensor.shape) decl.shape.push_back({.size = n});
    module->buffers.push_back(decl);
    values.push_back(g.Cast(value, Scalar::kF32));
    names.push_back(decl.name);
    decoded.push_back({decl.name, expected});
  }
  if (decoded.empty()) return InvalidArgument(path, ": there is no tensor to decode");
  graph.body.root = g.ir().Sink(values, std::vector<std::string_view>(names.begin(), names.end()));
  TG_ASSIGN_OR_RETURN(const std::unique_ptr<runtime::Session> session,
                      runtime::OpenSession(std::move(module), device));
  TG_RETURN_IF_ERROR(session->Run());
  size_t wrong = 0;
  for (const Decoded& d : decoded) {
    TG_ASSIGN_OR_RETURN(const runtime::HostTensor tensor, session->Get(d.name));
    size_t different = 0;
    const size_t count = tensor.data.size() / sizeof(float);
    for (size_t i = 0; i < count; ++i) {
      different += std::memcmp(&tensor.data[i * sizeof(float)],
                               d.expected->bytes.data() + i * sizeof(float), sizeof(float)) != 0;
    }
    std::printf("%s: %zu elements, %zu differ\n", d.name.c_str(), count, different);
    wrong += different;
  }
  if (wrong > 0) return InvalidArgument(wrong, " elements differ");
  return absl::OkStatus();
}

}  // namespace
}  // namespace tg::llm

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: decode_blocks FILE.gguf [DEVICE]\n");
    return 2;
  }
  const absl::Status status = tg::llm::Run(argv[1], argc > 2 ? argv[2] : "");
  if (status.ok()) return 0;
  std::fprintf(stderr, "decode_blocks: %s\n", std::string(status.message()).c_str());
  return 1;
}
