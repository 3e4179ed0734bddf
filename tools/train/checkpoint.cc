#include "tools/train/checkpoint.h"

#include <cstdlib>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/status.h"
#include "runtime/io/safetensors.h"

namespace tg::train {
namespace {

constexpr char kSettings[] = "tg.settings", kBest[] = "tg.best.";

// Doubles are written so that they are read back exactly.
std::string Text(double v) { return absl::StrFormat("%a", v); }

}  // namespace

absl::StatusOr<Tensors> ReadStates(runtime::Session& session,
                                   const std::vector<std::string>& names) {
  Tensors states;
  for (const std::string& name : names) {
    TG_ASSIGN_OR_RETURN(states[name], session.Get(name));
  }
  return states;
}

absl::Status SetStates(runtime::Session& session, const Tensors& states) {
  for (const auto& [name, tensor] : states) TG_RETURN_IF_ERROR(session.Set(name, tensor));
  return absl::OkStatus();
}

absl::Status WriteCheckpoint(const std::string& path, const Tensors& states,
                             const Progress& progress, const std::string& settings) {
  std::vector<runtime::NamedTensor> tensors;
  for (const auto& [name, t] : states) tensors.push_back({name, t.type, t.shape, t.data});
  for (const auto& [name, t] : progress.best) {
    tensors.push_back({kBest + name, t.type, t.shape, t.data});
  }
  return runtime::WriteSafetensors(
      path, std::move(tensors),
      {{kSettings, settings},
       {"tg.epoch", std::to_string(progress.epoch)},
       {"tg.batch", std::to_string(progress.batch)},
       {"tg.loss_sum", Text(progress.loss_sum)},
       {"tg.accuracy_sum", Text(progress.accuracy_sum)},
       {"tg.curves", CurvesText(progress.curves)},
       {"tg.best_loss", Text(progress.best_loss)},
       {"tg.epochs_since_best", std::to_string(progress.epochs_since_best)}});
}

absl::StatusOr<Progress> ReadCheckpoint(const std::string& path, runtime::Session& session,
                                        const std::vector<std::string>& names,
                                        const std::string& settings) {
  TG_ASSIGN_OR_RETURN(const runtime::SafetensorsFile file, runtime::SafetensorsFile::Open(path));
  const auto& metadata = file.metadata();
  const auto text = [&](const char* key) {
    const auto found = metadata.find(key);
    return found == metadata.end() ? std::string() : found->second;
  };
  if (!metadata.count(kSettings)) return InvalidArgument(path, ": no checkpoint of tg-train");
  if (text(kSettings) != settings) {
    return InvalidArgument(path, ": the checkpoint of a run with ", text(kSettings),
                           "; this one has ", settings);
  }
  for (const std::string& name : names) {
    absl::StatusOr<runtime::HostTensor> state = file.Read(name);
    if (state.ok()) {
      const absl::Status set = session.Set(name, *state);
      if (set.ok()) continue;
      state = set;
    }
    return InvalidArgument(
        path, ": the checkpoint of another model: ", std::string(state.status().message()));
  }
  Progress progress;
  progress.epoch = std::strtoll(text("tg.epoch").c_str(), nullptr, 10);
  progress.batch = std::strtoll(text("tg.batch").c_str(), nullptr, 10);
  progress.loss_sum = std::strtod(text("tg.loss_sum").c_str(), nullptr);
  progress.accuracy_sum = std::strtod(text("tg.accuracy_sum").c_str(), nullptr);
  progress.best_loss = std::strtod(text("tg.best_loss").c_str(), nullptr);
  progress.curves = ParseCurves(text("tg.curves"));
  progress.epochs_since_best = std::strtoll(text("tg.epochs_since_best").c_str(), nullptr, 10);
  for (const runtime::SafetensorsEntry& entry : file.entries()) {
    if (!entry.name.starts_with(kBest)) continue;
    TG_ASSIGN_OR_RETURN(progress.best[entry.name.substr(sizeof(kBest) - 1)], file.Read(entry.name));
  }
  return progress;
}

}  // namespace tg::train
