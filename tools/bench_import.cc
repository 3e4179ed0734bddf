// Measures the import of a text that tinygrad prints: 50 MB of a deeply nested graph.
//
//   bazel run --config=opt //tools:bench_import
#include <string>

#include "base/check.h"
#include "benchmark/benchmark.h"
#include "frontend/tinygrad/import_tinygrad.h"
#include "frontend/tinygrad/reader.h"
#include "ir/verify/verifier.h"

namespace tg::tools {
namespace {

constexpr size_t kBytes = 50'000'000;

// Appends `layers` nested layers in the format of tinygrad's printer: each line is indented by its
// depth, and a node with two uses has a name.
void AppendTower(std::string& out, int& number, int layers) {
  const auto line = [&out](int depth, const std::string& text) {
    out.append(static_cast<size_t>(2 * depth), ' ');
    out += text;
    out += '\n';
  };
  const auto buffer = [&](int depth) {
    line(depth, "UOp(Ops.RESHAPE, dtypes.float, arg=(64, 64), src=(");
    line(depth + 1, "UOp(Ops.BUFFER, dtypes.float, arg=4096, src=(");
    line(depth + 2, "UOp(Ops.UNIQUE, dtypes.void, arg=" + std::to_string(number++) + ", src=()),");
    line(depth + 2, "UOp(Ops.DEVICE, dtypes.void, arg='GPU', src=()),)),)),");
  };
  const int first = number;
  number += layers;
  for (int i = 0; i < layers; ++i) {
    const std::string name = "x" + std::to_string(first + i);
    line(4 * i + 1, "UOp(Ops.MUL, dtypes.float, arg=None, src=(");
    line(4 * i + 2, name + ":=UOp(Ops.EXP2, dtypes.float, arg=None, src=(");
    line(4 * i + 3, "UOp(Ops.ADD, dtypes.float, arg=None, src=(");
    line(4 * i + 4, "UOp(Ops.PERMUTE, dtypes.float, arg=(1, 0), src=(");
  }
  buffer(4 * layers + 1);
  for (int i = layers - 1; i >= 0; --i) {
    line(4 * i + 4, ")),");
    buffer(4 * i + 4);
    line(4 * i + 3, ")),)),");
    line(4 * i + 2, " x" + std::to_string(first + i) + ",)),");
  }
}

std::string PrintedGraph() {
  std::string text = "UOp(Ops.SINK, dtypes.void, arg=None, src=(\n";
  text.reserve(kBytes + (1 << 20));
  int number = 0;
  while (text.size() < kBytes) AppendTower(text, number, 20);
  return text + "))\n";
}

void Report(benchmark::State& state, const std::string& text) {
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(text.size()));
}

// Parses the notation only.
void BM_Read(benchmark::State& state) {
  const std::string text = PrintedGraph();
  for (auto _ : state) {
    Diagnostics diags;
    diags.SetSource(text, "bench.repr");
    TG_CHECK(tinygrad::ReadText(text, diags) != nullptr);
  }
  Report(state, text);
}

// Imports the module.
void BM_Import(benchmark::State& state) {
  const std::string text = PrintedGraph();
  for (auto _ : state) {
    Diagnostics diags;
    const auto module = tinygrad::ImportTinygrad(text, "bench.repr", diags);
    TG_CHECK(module != nullptr);
  }
  Report(state, text);
}

// Imports and verifies the module, as the tools do.
void BM_ImportAndVerify(benchmark::State& state) {
  const std::string text = PrintedGraph();
  for (auto _ : state) {
    Diagnostics diags;
    const auto module = tinygrad::ImportTinygrad(text, "bench.repr", diags);
    TG_CHECK(module != nullptr && VerifyModule(*module, diags));
  }
  Report(state, text);
}

BENCHMARK(BM_Read)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_Import)->Unit(benchmark::kMillisecond);
BENCHMARK(BM_ImportAndVerify)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace tg::tools

BENCHMARK_MAIN();
