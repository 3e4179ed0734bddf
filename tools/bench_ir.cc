// Measures reading, verifying, printing and simplifying large modules. Arguments: UOps, kind (0
// mixture, 1 chain, 2 index: tools/module_generator.h).
//
//   bazel run --config=opt //tools:bench_ir
//
// peak_MB is the process's peak resident size, including the text of the module; run with
// --benchmark_filter for that of one benchmark.
#include <sys/resource.h>

#include <memory>
#include <string>

#include "base/check.h"
#include "benchmark/benchmark.h"
#include "ir/text/parser.h"
#include "ir/text/printer.h"
#include "ir/verify/verifier.h"
#include "passes/simplify/simplify.h"
#include "tools/module_generator.h"

namespace tg::tools {
namespace {

std::string TextOf(const benchmark::State& state) {
  return PrintModule(*GenerateModule({.nodes = static_cast<size_t>(state.range(0)),
                                      .kind = static_cast<ModuleKind>(state.range(1))}));
}

std::unique_ptr<Module> Parse(const std::string& text) {
  Diagnostics diags;
  auto module = ParseModule(text, "bench.uop", diags);
  TG_CHECK(module != nullptr);
  return module;
}

void Report(benchmark::State& state, size_t bytes) {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_MB"] = static_cast<double>(usage.ru_maxrss) / 1024;
  state.counters["text_MB"] = static_cast<double>(bytes) / 1e6;
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void BM_Read(benchmark::State& state) {
  const std::string text = TextOf(state);
  for (auto _ : state) benchmark::DoNotOptimize(Parse(text));
  Report(state, text.size());
}

void BM_Verify(benchmark::State& state) {
  const std::string text = TextOf(state);
  const auto module = Parse(text);
  for (auto _ : state) {
    Diagnostics diags;
    TG_CHECK(VerifyModule(*module, diags));
  }
  Report(state, text.size());
}

void BM_Print(benchmark::State& state) {
  const std::string text = TextOf(state);
  const auto module = Parse(text);
  for (auto _ : state) benchmark::DoNotOptimize(PrintModule(*module));
  Report(state, text.size());
}

// The work of tg-opt without passes.
void BM_ReadVerifyPrint(benchmark::State& state) {
  const std::string text = TextOf(state);
  for (auto _ : state) {
    const auto module = Parse(text);
    Diagnostics diags;
    TG_CHECK(VerifyModule(*module, diags));
    benchmark::DoNotOptimize(PrintModule(*module));
  }
  Report(state, text.size());
}

// Each iteration needs a new module; the time excludes reading it.
void BM_Simplify(benchmark::State& state) {
  const std::string text = TextOf(state);
  for (auto _ : state) {
    state.PauseTiming();
    auto module = Parse(text);
    state.ResumeTiming();
    TG_CHECK(simplify::Simplify(*module).ok());
    state.PauseTiming();
    module.reset();
    state.ResumeTiming();
  }
  Report(state, text.size());
}

void Sizes(benchmark::internal::Benchmark* b) {
  for (int kind = 0; kind < 3; ++kind) b->Args({1'000'000, kind});
  b->Unit(benchmark::kMillisecond);
}
BENCHMARK(BM_Read)->Apply(Sizes);
BENCHMARK(BM_Verify)->Apply(Sizes);
BENCHMARK(BM_Print)->Apply(Sizes);
BENCHMARK(BM_ReadVerifyPrint)->Apply(Sizes);
BENCHMARK(BM_Simplify)->Apply(Sizes);

}  // namespace
}  // namespace tg::tools

BENCHMARK_MAIN();
