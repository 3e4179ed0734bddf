// Any bytes: the importer refuses them in one line, or gives a module that the verifier can judge.
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/check.h"
#include "frontend/onnx/import_onnx.h"
#include "frontend/onnx/operators.h"
#include "frontend/onnx/proto_mutator.h"
#include "ir/verify/verifier.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto module = tg::onnx::ImportOnnx(bytes, "fuzz.onnx", {});
  if (!module.ok()) {
    TG_CHECK(!module.status().message().empty());
    return 0;
  }
  tg::Diagnostics diags;
  tg::VerifyModule(**module, diags);
  (void)diags.ToString();
  return 0;
}

// Mutates fields instead of bytes: the lengths around a field make almost every change of a single
// byte invalid. The words are names of operators, so that each operator gets inputs that were made
// for others.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  static const auto& words = *[] {
    auto* names = new std::vector<std::string_view>();
    for (const tg::onnx::Operator* op : tg::onnx::AllOperators()) names->push_back(op->name);
    return names;
  }();
  std::mt19937 random(seed);
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string mutant = tg::onnx::MutateProto(bytes, words, random);
  if (mutant.size() > max_size) return size;
  std::memcpy(data, mutant.data(), mutant.size());
  return mutant.size();
}
