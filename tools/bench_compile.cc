// Measures the time from a parsed graph to the last kernel's OpenCL C source, on one thread
// (--jobs=N: on N).
//
//   bazel run --config=opt //tools:bench_compile -- --target=cl-cpu GRAPH.repr...
//
// Files hold texts that tinygrad prints or modules in tg's text format (run `xz -dc` first: nothing
// is decompressed here). Reading, importing and copying the module are not timed. Counters give the
// parts in milliseconds: each pass of the default pipeline and `render`; `nodes` are the graph's.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/check.h"
#include "benchmark/benchmark.h"
#include "codegen/opencl/renderer.h"
#include "frontend/tinygrad/import_tinygrad.h"
#include "ir/text/parser.h"
#include "ir/verify/verifier.h"
#include "ir/walk.h"
#include "passes/pass_manager.h"
#include "passes/pipeline.h"
#include "passes/target.h"

namespace tg::tools {
namespace {

using Clock = std::chrono::steady_clock;

double MillisecondsSince(Clock::time_point start) {
  return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// Reads a valid module from the file; returns null, with a message on stderr, after an error.
std::unique_ptr<Module> Read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "bench_compile: cannot read %s\n", path.c_str());
    return nullptr;
  }
  std::ostringstream contents;
  contents << file.rdbuf();
  const std::string text = std::move(contents).str();
  Diagnostics diags;
  std::unique_ptr<Module> module;
  if (tinygrad::IsTinygradText(text)) {
    module = tinygrad::ImportTinygrad(text, path, diags);
  } else {
    diags.SetSource(text, path);
    module = ParseModule(text, path, diags);
  }
  if (module && VerifyModule(*module, diags)) return module;
  std::fprintf(stderr, "%s", diags.ToString().c_str());
  return nullptr;
}

void Compile(benchmark::State& state, const Module& original, const passes::Target& target,
             int jobs) {
  passes::ThreadPool workers(jobs);
  const passes::Pipeline pipeline = passes::MakePipeline(passes::kPipeline);
  std::map<std::string, double> parts;
  size_t kernels = 0, bytes = 0;
  for (auto _ : state) {
    state.PauseTiming();
    std::unique_ptr<Module> module = Clone(original);
    passes::PassManager manager(pipeline, {.target = &target, .verify_each = false, .jobs = jobs});
    state.ResumeTiming();
    const absl::Status status = manager.Run(*module);
    if (!status.ok()) return state.SkipWithError(std::string(status.message()).c_str());
    const Clock::time_point rendering = Clock::now();
    const absl::StatusOr<codegen::RenderedModule> rendered =
        opencl::RenderModule(*module, target, &workers);
    parts["render"] += MillisecondsSince(rendering);
    if (!rendered.ok()) {
      return state.SkipWithError(std::string(rendered.status().message()).c_str());
    }
    state.PauseTiming();
    for (const passes::PassReport::Row& row : manager.report().rows) {
      parts[row.step] += 1e3 * row.pass_seconds;
    }
    kernels = module->kernels.size();
    bytes = rendered->source.size();
    module.reset();
    state.ResumeTiming();
  }
  for (const auto& [name, milliseconds] : parts) {
    state.counters[name] = benchmark::Counter(milliseconds, benchmark::Counter::kAvgIterations);
  }
  size_t nodes = 0;
  for (const auto& graph : original.graphs) nodes += PostOrder(graph->body.root).size();
  state.counters["nodes"] = static_cast<double>(nodes);
  state.counters["kernels"] = static_cast<double>(kernels);
  state.counters["bytes"] = static_cast<double>(bytes);
}

int Main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  std::string target_name = "cl-cpu";
  int jobs = 1;
  std::vector<std::string> paths;
  for (int i = 1; i < argc; ++i) {
    const std::string_view arg = argv[i];
    if (arg.starts_with("--target=")) {
      target_name = arg.substr(std::strlen("--target="));
    } else if (arg.starts_with("--jobs=")) {
      jobs = std::atoi(argv[i] + std::strlen("--jobs="));
    } else {
      paths.emplace_back(arg);
    }
  }
  const absl::StatusOr<passes::Target> target = passes::FindTarget(target_name);
  if (!target.ok() || paths.empty()) {
    const std::string why(target.ok() ? "no file given" : target.status().message());
    std::fprintf(stderr, "bench_compile: %s\n", why.c_str());
    return 1;
  }
  std::vector<std::unique_ptr<Module>> modules;
  for (const std::string& path : paths) {
    modules.push_back(Read(path));
    if (!modules.back()) return 1;
    const std::string name = path.substr(path.rfind('/') + 1);
    benchmark::RegisterBenchmark(name.c_str(), [&target, jobs, module = modules.back().get()](
                                                   benchmark::State& state) {
      Compile(state, *module, *target, jobs);
    })->Unit(benchmark::kMillisecond);
  }
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}

}  // namespace
}  // namespace tg::tools

int main(int argc, char** argv) { return tg::tools::Main(argc, argv); }
