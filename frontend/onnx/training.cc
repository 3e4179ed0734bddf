#include "frontend/onnx/training.h"

#include <algorithm>
#include <utility>

namespace tg::onnx {

using frontend::Value;

namespace {

Value AssignTo(frontend::GraphBuilder& g, Value buffer, Value value) {
  return g.ir().context().Make(Op::kAssign, buffer->dtype, {buffer, value});
}

}  // namespace

Value TrainingImport::SampleWeights(Value x) {
  const Dim n = g_.Extent(x, 0);
  if (!weights_ && !n.is_symbolic()) {
    weights_ = g_.Declare(options_.sample_weights,
                          {.dtype = kF32, .shape = {{.size = n.value()}}, .role = Role::kInput});
  }
  if (weights_ && g_.Extent(weights_, 0) == n) return weights_;
  return g_.Fail("its axis 0 is not the batch, whose statistics training needs");
}

Value TrainingImport::Draws() {
  if (!draws_) draws_ = g_.Declare(options_.draws, {.dtype = Scalar::kU64, .role = Role::kState});
  return draws_;
}

void TrainingImport::Write(Value param, Value value) {
  if (!param || !value) return;
  BufferDecl* decl = nullptr;
  if (param->op == Op::kBuffer) {
    const auto name = g_.ir().context().String(static_cast<StringId>(param->word()));
    for (BufferDecl& b : module_.buffers) {
      if (b.name == name) decl = &b;
    }
  }
  if (!decl || decl->role != Role::kParam) {
    g_.Fail("its statistics are no initializers of its own, which training changes");
    return;
  }
  decl->role = Role::kState;
  writes_.push_back(AssignTo(g_, param, value));
}

std::vector<Value> TrainingImport::TakeWrites() {
  if (draws_) {
    writes_.push_back(AssignTo(g_, draws_, g_.Add(draws_, g_.ConstInt(Scalar::kU64, 1))));
  }
  return std::move(writes_);
}

}  // namespace tg::onnx
