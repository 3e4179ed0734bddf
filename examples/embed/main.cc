// A program that embeds tg: builds a graph, runs a pass of tg and one of this project on it, prints
// the result as text, runs it on a device, and checks the values.
//
//   embed [DEVICE]     as for tg-run: "cpu", "gpu:1", "reference", ...; default: the first device
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ir/builder.h"
#include "ir/module.h"
#include "ir/text/printer.h"
#include "passes/pass_manager.h"
#include "passes/pipeline.h"
#include "runtime/io/host_tensor.h"
#include "runtime/session/open.h"
#include "select_to_max.h"

namespace {

using tg::runtime::HostTensor;

constexpr int64_t kRows = 4, kInner = 8, kColumns = 3;

// y = relu(x w + bias), with relu as `where h < 0, 0, h`.
std::unique_ptr<tg::Module> BuildDenseLayer() {
  auto module = std::make_unique<tg::Module>();
  module->name = "dense";
  module->buffers = {
      {.name = "x",
       .dtype = tg::kF32,
       .shape = {{kRows, ""}, {kInner, ""}},
       .role = tg::Role::kInput},
      {.name = "w",
       .dtype = tg::kF32,
       .shape = {{kInner, ""}, {kColumns, ""}},
       .role = tg::Role::kInput},
      {.name = "bias", .dtype = tg::kF32, .shape = {{kColumns, ""}}, .role = tg::Role::kInput},
      {.name = "y",
       .dtype = tg::kF32,
       .shape = {{kRows, ""}, {kColumns, ""}},
       .role = tg::Role::kOutput},
  };

  auto graph = std::make_unique<tg::Graph>();
  graph->name = "main";
  tg::Builder b(*graph->body.context);
  const tg::Shape products = {kRows, kInner, kColumns};
  const tg::UOp* x = b.Reshape(b.Buffer("x", tg::kF32), {kRows, kInner, 1});
  const tg::UOp* w = b.Reshape(b.Buffer("w", tg::kF32), {1, kInner, kColumns});
  const tg::UOp* product = b.Mul(b.Expand(x, products), b.Expand(w, products));
  const int64_t inner_axis[] = {1};
  const tg::UOp* sum = b.ReduceAxis(product, tg::Op::kAdd, inner_axis);
  const tg::Shape result = {kRows, kColumns};
  const tg::UOp* bias = b.Reshape(b.Buffer("bias", tg::kF32), {1, kColumns});
  const tg::UOp* h = b.Add(b.Reshape(sum, result), b.Expand(bias, result));
  const tg::UOp* zero = b.Const(tg::kF32, 0);
  const tg::UOp* y = b.Where(b.Lt(h, zero), zero, h);
  const std::string_view targets[] = {"y"};
  graph->body.root = b.Sink({&y, 1}, targets);
  module->graphs.push_back(std::move(graph));
  return module;
}

HostTensor Floats(std::vector<int64_t> shape, const std::vector<float>& values) {
  HostTensor tensor{tg::runtime::ElementType::kF32, std::move(shape), {}};
  tensor.data.resize(values.size() * sizeof(float));
  std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
  return tensor;
}

// Multiples of 1/4 between -2 and 2: the products and sums below are exact in any order.
std::vector<float> Numbers(int64_t count, int64_t step) {
  std::vector<float> numbers;
  for (int64_t i = 0; i < count; ++i) {
    numbers.push_back(static_cast<float>(i * step % 17 - 8) / 4);
  }
  return numbers;
}

absl::Status Run(std::string_view device) {
  // A graph, and two passes on it: tg's first one, which makes kernels, and this project's.
  std::unique_ptr<tg::Module> module = BuildDenseLayer();
  tg::passes::PassManager passes(tg::passes::MakePipeline(std::to_array<const tg::passes::Pass*>(
      {&tg::kernelize::kKernelizePass, &embed::kSelectToMaxPass})));
  if (absl::Status s = passes.Run(*module); !s.ok()) return s;
  std::printf("%s\n", tg::PrintModule(*module).c_str());
  for (const auto& [name, count] : passes.report().statistics) {
    std::printf("%s = %lld\n", name.c_str(), static_cast<long long>(count));
  }

  // The remaining passes run when the session is opened.
  absl::StatusOr<std::unique_ptr<tg::runtime::Session>> session =
      tg::runtime::OpenSession(std::move(module), device);
  if (!session.ok()) return session.status();
  const std::vector<float> x = Numbers(kRows * kInner, 5), w = Numbers(kInner * kColumns, 7),
                           bias = Numbers(kColumns, 3);
  for (const auto& [name, tensor] :
       {std::pair("x", Floats({kRows, kInner}, x)), std::pair("w", Floats({kInner, kColumns}, w)),
        std::pair("bias", Floats({kColumns}, bias))}) {
    if (absl::Status s = (*session)->Set(name, tensor); !s.ok()) return s;
  }
  if (absl::Status s = (*session)->Run("main"); !s.ok()) return s;
  const absl::StatusOr<HostTensor> y = (*session)->Get("y");
  if (!y.ok()) return y.status();

  // The same values from plain loops.
  std::vector<float> values(kRows * kColumns);
  if (y->data.size() != values.size() * sizeof(float)) return absl::InternalError("wrong size");
  std::memcpy(values.data(), y->data.data(), y->data.size());
  for (int64_t row = 0; row < kRows; ++row) {
    for (int64_t column = 0; column < kColumns; ++column) {
      float expected = bias[column];
      for (int64_t k = 0; k < kInner; ++k) {
        expected += x[row * kInner + k] * w[k * kColumns + column];
      }
      expected = std::fmax(expected, 0.0f);
      const float value = values[row * kColumns + column];
      std::printf("y[%d, %d] = %g\n", static_cast<int>(row), static_cast<int>(column), value);
      if (value != expected) {
        return absl::InternalError("expected " + std::to_string(expected));
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) {
  const absl::Status status = Run(argc > 1 ? argv[1] : "");
  if (!status.ok()) std::fprintf(stderr, "embed: %s\n", status.ToString().c_str());
  return status.ok() ? 0 : 1;
}
