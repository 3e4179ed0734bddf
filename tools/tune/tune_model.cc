#include "tools/tune/tune_model.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
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
                                                     Ranks& ranks) {
  std::vector<DeviceSearch> searches;
  std::vector<std::string> drivers;
  for (const std::string& wish : flags.devices) {
    TG_ASSIGN_OR_RETURN(const runtime::Device device, runtime::ChooseDevice(wish));
    DeviceSearch& one = searches.emplace_back();
    one.name = Cat(ranks.count() > 1 ? Cat("rank ", ranks.number(), ", ") : "", device.info.name,
                   " (", device.index, ")");
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
    drivers.push_back(runtime::DriverText(device.info));
  }
  TG_ASSIGN_OR_RETURN(const std::vector<std::string> texts,
                      ranks.AllGather(absl::StrJoin(drivers, "\n")));
  // Numbers the devices that are alike, those of the ranks before first.
  std::map<std::string, size_t> counts;
  for (size_t rank = 0; rank < texts.size(); ++rank) {
    const std::vector<std::string> of_rank = absl::StrSplit(texts[rank], '\n');
    for (size_t i = 0; i < of_rank.size(); ++i) {
      const size_t number = counts[of_rank[i]]++;
      if (rank == ranks.number()) searches[i].options.part = number;
    }
  }
  const size_t cores = std::max(1u, std::thread::hardware_concurrency());
  for (size_t i = 0; i < searches.size(); ++i) {
    searches[i].options.parts = counts[drivers[i]];
    searches[i].options.workers = std::max<size_t>(1, cores / searches.size());
  }
  return searches;
}

}  // namespace

absl::Status TuneModel(const std::string& path, const TuneFlags& flags,
                       const passes::Pipeline& pipeline, Ranks& ranks, search::Record& record) {
  TG_ASSIGN_OR_RETURN(std::vector<DeviceSearch> searches, SearchesOf(flags, pipeline, ranks));
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
  TG_RETURN_IF_ERROR(flags.allowed.AddTo(*module));
  TG_ASSIGN_OR_RETURN(const RandomFeed feed,
                      RandomFeed::Make(*module, flags.graph, flags.vars, flags.seed.value_or(1)));
  std::mutex mutex;
  std::vector<std::thread> threads;
  for (DeviceSearch& one : searches) {
    const bool is_alone = searches.size() == 1 && ranks.count() == 1;
    const std::string prefix = !is_alone ? one.name + ": " : "";
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
    TG_RETURN_IF_ERROR(
        WriteStdout(Cat(searches.size() > 1 || ranks.count() > 1 ? one.name + ":\n" : "",
                        search::GainTable(*one.result))));
  }
  return absl::OkStatus();
}

}  // namespace tg::tune
