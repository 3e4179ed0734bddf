#include "tools/tune/tune_model.h"

#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/write_file.h"
#include "ir/testing/rng.h"
#include "ir/text/diagnostic.h"
#include "ir/text/parser.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/devices/devices.h"
#include "runtime/search/search.h"
#include "runtime/session/given.h"
#include "runtime/session/session.h"
#include "tools/driver/input.h"
#include "tools/fuzz/random_directives.h"
#include "tools/run/random_inputs.h"

namespace tg::tune {
namespace {

// Contents for everything that the model needs and does not bring.
class RandomFeed {
 public:
  static absl::StatusOr<RandomFeed> Make(const Module& module, const std::string& graph,
                                         const runtime::VarMap& vars, int64_t seed) {
    RandomFeed feed;
    const std::vector<runtime::GraphNeeds> graphs = runtime::NeedsOfGraphs(module);
    std::vector<std::string_view> names;
    for (const runtime::GraphNeeds& g : graphs) names.push_back(g.name);
    TG_ASSIGN_OR_RETURN(const size_t found, runtime::FindGraphToRun(module.name, names, graph));
    for (const VarDecl* var : graphs[found].needs.vars) feed.vars_[var->name] = var->max;
    for (const auto& [name, value] : vars) {
      TG_ASSIGN_OR_RETURN(const VarDecl* var, runtime::CheckVar(module, name, value));
      feed.vars_[var->name] = value;
    }
    for (const BufferDecl& buffer : module.buffers) {
      const bool is_open = buffer.role == Role::kInput ||
                           (buffer.role == Role::kParam && !buffer.values && buffer.file.empty());
      if (!is_open) continue;
      TG_ASSIGN_OR_RETURN(feed.tensors_[buffer.name],
                          run::RandomTensor(module, buffer, feed.vars_, seed));
    }
    return feed;
  }
  absl::Status operator()(runtime::Session& session) const {
    for (const auto& [name, value] : vars_) TG_RETURN_IF_ERROR(session.SetVar(name, value));
    for (const auto& [name, tensor] : tensors_) TG_RETURN_IF_ERROR(session.Set(name, tensor));
    return absl::OkStatus();
  }

 private:
  runtime::VarMap vars_;
  std::map<std::string, runtime::HostTensor> tensors_;
};

// A search on one device.
struct DeviceSearch {
  search::SearchOptions options;
  std::string name;
  absl::StatusOr<search::SearchResult> result = absl::UnknownError("");
};

absl::StatusOr<std::vector<DeviceSearch>> SearchesOf(const TuneFlags& flags,
                                                     const passes::Pipeline& pipeline,
                                                     const Rank& rank) {
  std::vector<DeviceSearch> searches;
  std::map<std::string, std::vector<size_t>> alike;
  for (const std::string& wish : flags.devices) {
    TG_ASSIGN_OR_RETURN(const runtime::Device device, runtime::ChooseDevice(wish));
    DeviceSearch& one = searches.emplace_back();
    one.name = Cat(device.info.name, " (", device.index, ")");
    one.options.seconds = static_cast<double>(flags.budget.value_or(60));
    one.options.deadline = static_cast<double>(flags.deadline.value_or(10));
    one.options.sample = static_cast<size_t>(flags.sample.value_or(0));
    one.options.draw = [](const Module& module, Kernel& kernel, const passes::Target& target,
                          uint64_t seed) {
      testing::Rng rng(seed);
      fuzz::ChooseRandomDirectives(module, kernel, target, rng);
    };
    one.options.device = std::to_string(device.index);
    one.options.target = flags.target;
    one.options.graph = flags.graph;
    one.options.pipeline = pipeline;
    alike[runtime::DriverText(device.info)].push_back(searches.size() - 1);
  }
  for (const auto& [driver, numbers] : alike) {
    for (size_t i = 0; i < numbers.size(); ++i) {
      searches[numbers[i]].options.part = rank.number * numbers.size() + i;
      searches[numbers[i]].options.parts = rank.count * numbers.size();
    }
  }
  return searches;
}

}  // namespace

absl::Status TuneModel(const std::string& path, const TuneFlags& flags,
                       const passes::Pipeline& pipeline, const Rank& rank, search::Record& record) {
  TG_ASSIGN_OR_RETURN(std::vector<DeviceSearch> searches, SearchesOf(flags, pipeline, rank));
  TG_ASSIGN_OR_RETURN(const std::string text, ReadTextFile(path));
  TG_ASSIGN_OR_RETURN(const onnx::OnnxImportOptions onnx,
                      flags.sizes.For(text, model::IsOnnxInput(text, path, flags.input_format)));
  Diagnostics diagnostics;
  const std::unique_ptr<Module> module =
      model::ReadInput(text, path, flags.input_format, diagnostics, onnx);
  if (module == nullptr) {
    llvm::errs() << diagnostics.ToString();
    return absl::InvalidArgumentError("");
  }
  TG_ASSIGN_OR_RETURN(const RandomFeed feed,
                      RandomFeed::Make(*module, flags.graph, flags.vars, flags.seed.value_or(1)));
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (DeviceSearch& one : searches) {
    const std::string prefix = searches.size() > 1 ? one.name + ": " : "";
    one.options.tell = [&mutex, prefix](const std::string& line) {
      const std::lock_guard lock(mutex);
      std::fprintf(stderr, "%s%s\n", prefix.c_str(), line.c_str());
    };
    threads.emplace_back([&] {
      one.result = search::Search(
          *module, [&](runtime::Session& session) { return feed(session); }, one.options, record);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const DeviceSearch& one : searches) {
    if (!one.result.ok()) return one.result.status();
    TG_RETURN_IF_ERROR(WriteStdout(
        Cat(searches.size() > 1 ? one.name + ":\n" : "", search::GainTable(*one.result))));
  }
  return absl::OkStatus();
}

}  // namespace tg::tune
