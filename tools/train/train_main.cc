#include "tools/train/train_main.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "base/temporary_file.h"
#include "base/write_file.h"
#include "frontend/onnx/import_onnx.h"
#include "frontend/onnx/signature.h"
#include "ir/text/diagnostic.h"
#include "ir/text/parser.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/opencl/compile_job.h"
#include "runtime/opencl/opencl_layers.h"
#include "runtime/session/contents.h"
#include "runtime/session/open.h"
#include "tools/driver/device_listing.h"
#include "tools/driver/flags.h"
#include "tools/driver/input.h"
#include "tools/driver/listing.h"
#include "tools/driver/model_sizes.h"
#include "tools/driver/out_of_memory.h"
#include "tools/driver/standard_error.h"
#include "tools/train/memory_budget.h"
#include "tools/train/onnx_weights.h"
#include "tools/train/trainer.h"
#include "tools/train/write_model.h"

namespace tg::train {
namespace {

constexpr char kTool[] = "tg-train";

struct TrainFlags {
  std::string loss_text, optimizer_text = "adamw", schedule_text = "constant", output, gradients,
                         step;
  std::string input_format = "auto";
  std::string lora_text;
  AdapterSpec adapters;
  std::vector<std::string> data, eval, device_texts, frozen, without_decay;
  std::optional<int64_t> epochs, seed, patience, checkpoint_steps, batch, loss_scale, memory_budget;
  driver::ModelSizes sizes;
  bool batch_norm = false, dropout = false;
  bool init = false, list_devices = false, version = false, help = false;
  TrainOptions options;
  LossSpec loss;
  OptimizerSpec optimizer;
  RateSchedule schedule;
  runtime::DeviceRequest devices;

  void AddTo(driver::Flags& flags);
  absl::Status Interpret();
};

void TrainFlags::AddTo(driver::Flags& flags) {
  flags.Group("What is trained");
  flags.String("loss", "KIND:OUTPUT,TARGET", &loss_text,
               "cross_entropy, nll, mse or bce of the model's output and an array of the data");
  flags.Repeated("data", "FILE", &data, "the samples: FILE.npz, or NAME=FILE.npy for each array");
  flags.Repeated("eval", "FILE", &eval, "samples for an evaluation after each epoch");
  flags.Repeated("freeze", "TEXT", &frozen, "weights whose names contain this are not trained");
  flags.String(
      "lora", "rank:N[:alpha=A]", &lora_text,
      "train only a product of two matrices of this rank, added to each weight of a product");
  flags.Bool("init", &init, "begin with random weights, by the seed");
  driver::AddInputFormat(flags, &input_format);
  sizes.AddTo(flags);
  flags.Group("How");
  flags.Int("batch", "N", &batch, "the samples of a step, where the model leaves it open (32)");
  flags.String("optimizer", "KIND[:KEY=VALUE...]", &optimizer_text,
               "sgd, adam, adamw or lion; lr, decay, clip, momentum, beta1, beta2, eps");
  flags.Repeated("no-decay", "TEXT", &without_decay,
                 "weights whose names contain this do not decay");
  flags.Int("loss-scale", "N", &loss_scale,
            "the first factor of the loss, which adapts; 0: none (65536 for weights of f16)");
  flags.Bool(
      "batch-norm", &batch_norm,
      "steps normalise by the statistics of the batch, and update those of the model (ONNX)");
  flags.Bool("dropout", &dropout, "steps drop what Dropout says, by random masks (ONNX)");
  flags.String("schedule", "KIND[:warmup=N]", &schedule_text,
               "the rate over the steps: constant, linear or cosine");
  flags.Int("epochs", "N", &epochs, "how often each sample is used");
  flags.Int("seed", "N", &seed, "of the order of the samples, of --init and of --dropout (1)");
  flags.Int("patience", "N", &patience,
            "stop after N epochs without a better loss of --eval, with the best weights");
  flags.Repeated("device", "[NAME=]DEVICE", &device_texts, "as for tg-run");
  flags.Int("memory-budget", "BYTES", &memory_budget,
            "compute values again for the gradients, so that a step needs no more");
  flags.Bool("check-nan", &options.check_nan,
             "keep each step's states, to find the op that makes a loss that is not finite");
  flags.Group("Files");
  flags.String("output", "FILE", &output,
               "the trained weights: .safetensors; or the model with them, .onnx or .uop");
  flags.String("gradients", "FILE", &gradients,
               "do not train: write the gradients of the first batch's mean loss, .safetensors");
  flags.String("step", "FILE", &step,
               "do not train: write the module of a step, .uop, for tg-run and tg-tune");
  flags.String("report", "FILE", &options.report,
               "a page, .html, of the loss and accuracy over the epochs, after each of them");
  flags.String("checkpoint", "FILE", &options.checkpoint,
               "all states, after each epoch; --resume continues with them");
  flags.Int("checkpoint-steps", "N", &checkpoint_steps, "a checkpoint after each N steps as well");
  flags.Bool("resume", &options.resume, "continue with the checkpoint, if the file is there");
  flags.Group("About the tool");
  flags.Bool("list-devices", &list_devices, "print the devices of this machine");
  flags.Bool("version", &version, "print the version");
  flags.Bool("help", &help, "print this text");
}

absl::Status NamedBy(const char* option, const absl::Status& status) {
  return status.ok() ? status : InvalidArgument(option, ": ", std::string(status.message()));
}

absl::Status TrainFlags::Interpret() {
  if (loss_text.empty()) return InvalidArgument("--loss is missing: KIND:OUTPUT,TARGET");
  if (data.empty()) return InvalidArgument("--data is missing");
  const auto parse = [](const char* option, auto parsed, auto* to) {
    if (parsed.ok()) *to = *std::move(parsed);
    return NamedBy(option, parsed.status());
  };
  TG_RETURN_IF_ERROR(parse("--loss", ParseLoss(loss_text), &loss));
  TG_RETURN_IF_ERROR(parse("--optimizer", ParseOptimizer(optimizer_text), &optimizer));
  TG_RETURN_IF_ERROR(parse("--schedule", ParseSchedule(schedule_text), &schedule));
  if (!lora_text.empty()) TG_RETURN_IF_ERROR(parse("--lora", ParseAdapters(lora_text), &adapters));
  if (init && adapters.rank > 0)
    return InvalidArgument("--lora needs weights, not those of --init");
  TG_RETURN_IF_ERROR(sizes.Parse());
  if (batch.value_or(1) < 1) return InvalidArgument("--batch must be at least 1");
  TG_RETURN_IF_ERROR(parse("--device", runtime::ParseDeviceRequest(device_texts), &devices));
  if (!output.empty()) TG_RETURN_IF_ERROR(CheckOutputName(output));
  if (!gradients.empty() && !gradients.ends_with(".safetensors")) {
    return InvalidArgument("--gradients: ", gradients, " does not end with .safetensors");
  }
  if (!step.empty() && !step.ends_with(".uop")) {
    return InvalidArgument("--step: ", step, " does not end with .uop");
  }
  options.epochs = epochs.value_or(1);
  options.seed = static_cast<uint64_t>(seed.value_or(1));
  options.patience = patience.value_or(0);
  options.checkpoint_steps = checkpoint_steps.value_or(0);
  if (options.epochs < 0) return InvalidArgument("--epochs must be at least 0");
  if (memory_budget.value_or(1) < 1) return InvalidArgument("--memory-budget must be at least 1");
  if (loss_scale.value_or(0) < 0) return InvalidArgument("--loss-scale must be at least 0");
  if (options.patience < 0) return InvalidArgument("--patience must be at least 0");
  if (options.checkpoint_steps < 0) return InvalidArgument("--checkpoint-steps must be at least 0");
  if (options.patience > 0 && eval.empty()) return InvalidArgument("--patience needs --eval");
  if (options.checkpoint.empty() && (options.resume || options.checkpoint_steps > 0)) {
    return InvalidArgument("--resume and --checkpoint-steps need --checkpoint");
  }
  return absl::OkStatus();
}

// The import of an ONNX model whose open batch has the size of --batch.
absl::StatusOr<onnx::OnnxImportOptions> ImportOptions(std::string_view bytes, bool is_onnx,
                                                      const TrainFlags& flags,
                                                      onnx::OnnxMeaning meaning) {
  TG_ASSIGN_OR_RETURN(onnx::OnnxImportOptions options, flags.sizes.For(bytes, is_onnx));
  if (!is_onnx) return options;
  TG_ASSIGN_OR_RETURN(options.weights, OnnxWeights(bytes));
  if (flags.batch_norm) {
    TG_ASSIGN_OR_RETURN(const OnnxStatistics statistics, StatisticsOf(bytes));
    options.weights.insert(statistics.means.begin(), statistics.means.end());
    options.weights.insert(statistics.variances.begin(), statistics.variances.end());
    options.training.batch_norm = meaning;
  }
  if (flags.dropout) {
    TG_ASSIGN_OR_RETURN(const bool has_dropout, HasOperator(bytes, "Dropout"));
    if (!has_dropout) return InvalidArgument("--dropout: the model has no Dropout");
    options.training.dropout = meaning;
  }
  options.training.fold_norms = false;
  options.training.sample_weights = kSampleWeights;
  options.training.draws = "train.draws";
  options.training.seed = static_cast<uint64_t>(flags.seed.value_or(1));
  TG_ASSIGN_OR_RETURN(const onnx::OnnxSignature signature, onnx::ReadOnnxSignature(bytes));
  for (const onnx::OnnxValueInfo& input : signature.inputs) {
    if (!input.shape || input.shape->empty() || input.shape->front().size) continue;
    options.sizes.emplace(input.shape->front().name, flags.batch.value_or(32));
  }
  return options;
}

absl::StatusOr<std::unique_ptr<Module>> ReadModel(std::string_view text, const std::string& path,
                                                  const TrainFlags& flags,
                                                  onnx::OnnxMeaning meaning) {
  TG_ASSIGN_OR_RETURN(
      const onnx::OnnxImportOptions onnx,
      ImportOptions(text, model::IsOnnxInput(text, path, flags.input_format), flags, meaning));
  Diagnostics diagnostics;
  std::unique_ptr<Module> read =
      model::ReadInput(text, path, flags.input_format, diagnostics, onnx);
  if (read != nullptr) return read;
  llvm::errs() << diagnostics.ToString();
  return absl::InvalidArgumentError("");
}

// A step cannot be known before the data: the number of steps decides the rates.
int64_t CountSteps(int64_t samples, int64_t batch, int64_t epochs) {
  return std::max<int64_t>(1, (samples + batch - 1) / batch * epochs);
}

bool ContainsOneOf(const std::string& name, const std::vector<std::string>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](const std::string& part) { return name.find(part) != std::string::npos; });
}

void PrintLine(const std::string& line) { llvm::errs() << line << '\n'; }

class Run {
 public:
  Run(const std::string& path, TrainFlags& flags) : path_(path), flags_(flags) {}

  absl::Status Go() {
    TG_ASSIGN_OR_RETURN(bytes_, ReadTextFile(path_));
    TG_ASSIGN_OR_RETURN(model_, ReadModel(bytes_, path_, flags_, onnx::OnnxMeaning::kOfRun));
    const bool is_onnx = model::IsOnnxInput(bytes_, path_, flags_.input_format);
    if (flags_.output.ends_with(".onnx") && !is_onnx) {
      return InvalidArgument("-o: ", flags_.output, " needs an ONNX model to change");
    }
    if (is_onnx) {
      TG_ASSIGN_OR_RETURN(const auto names, OnnxWeights(bytes_));
      for (const std::string& name : names) onnx_weights_.insert(onnx::OnnxSymbol(name));
      if (names.empty()) return InvalidArgument("the model has no weights");
    }
    if (flags_.batch_norm || flags_.dropout) {
      if (!is_onnx) return InvalidArgument("--batch-norm and --dropout need an ONNX model");
      TG_ASSIGN_OR_RETURN(training_form_,
                          ReadModel(bytes_, path_, flags_, onnx::OnnxMeaning::kOfTraining));
    }
    if (!model_->FindBuffer(flags_.loss.output)) {
      flags_.loss.output = onnx::OnnxSymbol(flags_.loss.output);
    }
    TG_RETURN_IF_ERROR(MakeModule());
    if (flags_.batch && *flags_.batch != training_.batch) {
      return InvalidArgument("--batch: the model has batches of ", training_.batch);
    }
    TG_ASSIGN_OR_RETURN(Samples samples, Samples::Read(flags_.data, training_, flags_.loss));
    std::optional<Samples> held_out;
    if (!flags_.eval.empty()) {
      absl::StatusOr<Samples> read = Samples::Read(flags_.eval, training_, flags_.loss);
      if (!read.ok()) return NamedBy("--eval", read.status());
      held_out = *std::move(read);
    }
    if (flags_.schedule.kind != ScheduleKind::kConstant) {
      flags_.schedule.total = CountSteps(samples.size(), training_.batch, flags_.options.epochs);
      TG_RETURN_IF_ERROR(MakeModule());
    }
    runtime::OpenOptions open;
    open.devices = flags_.devices;
    if (flags_.memory_budget) {
      TG_ASSIGN_OR_RETURN(
          training_,
          MakeWithinBudget(
              *flags_.memory_budget, open,
              [&](const Checkpoints& checkpoints) { return ModuleWith(checkpoints); }, PrintLine));
    }
    TG_ASSIGN_OR_RETURN(const std::unique_ptr<runtime::Session> session,
                        runtime::OpenSession(Clone(*training_.module), open));
    TG_RETURN_IF_ERROR(StartWeights(*session));
    if (!flags_.step.empty()) return WriteStep(*session, samples);
    if (!flags_.gradients.empty()) return WriteGradients(*session, samples);
    flags_.options.settings = Settings(samples.size());
    TG_RETURN_IF_ERROR(Train(*session, training_, samples, held_out ? &*held_out : nullptr,
                             flags_.options, PrintLine));
    return flags_.output.empty() ? absl::OkStatus() : Write(*session);
  }

 private:
  absl::Status MakeModule() {
    TG_ASSIGN_OR_RETURN(training_, ModuleWith({}));
    return absl::OkStatus();
  }

  absl::StatusOr<TrainingModule> ModuleWith(const Checkpoints& checkpoints) {
    const auto is_trained = [&](const BufferDecl& b) {
      if (!onnx_weights_.empty() && !onnx_weights_.count(b.name)) return false;
      return !ContainsOneOf(b.name, flags_.frozen);
    };
    const auto decays = [&](const BufferDecl& b) {
      return !ContainsOneOf(b.name, flags_.without_decay);
    };
    return MakeTrainingModule(Clone(*model_), {.loss = flags_.loss,
                                               .optimizer = flags_.optimizer,
                                               .schedule = flags_.schedule,
                                               .only_gradients = !flags_.gradients.empty(),
                                               .is_trained = is_trained,
                                               .decays = decays,
                                               .loss_scale = flags_.loss_scale,
                                               .training_form = training_form_.get(),
                                               .checkpoints = checkpoints,
                                               .adapters = flags_.adapters});
  }

  absl::Status StartWeights(runtime::Session& session) {
    if (flags_.init) {
      TG_RETURN_IF_ERROR(InitializeWeights(session, training_, flags_.options.seed));
      return flags_.batch_norm ? InitializeStatistics(session) : absl::OkStatus();
    }
    std::vector<std::string> needed = training_.weights;
    if (!training_.adapters.empty()) {
      TG_RETURN_IF_ERROR(InitializeAdapters(session, training_, flags_.options.seed));
      needed.clear();
      for (const Adapter& adapter : training_.adapters) needed.push_back(adapter.weight);
    }
    for (const std::string& name : needed) {
      if (runtime::HasContents(*training_.module->FindBuffer(name))) continue;
      return InvalidArgument("weight ", Quote(name),
                             " has no contents in the model; --init makes random ones");
    }
    return absl::OkStatus();
  }

  absl::Status InitializeStatistics(runtime::Session& session) {
    TG_ASSIGN_OR_RETURN(const OnnxStatistics statistics, StatisticsOf(bytes_));
    for (const std::string_view name : statistics.means) {
      TG_RETURN_IF_ERROR(SetAll(session, *training_.module, onnx::OnnxSymbol(name), 0));
    }
    for (const std::string_view name : statistics.variances) {
      TG_RETURN_IF_ERROR(SetAll(session, *training_.module, onnx::OnnxSymbol(name), 1));
    }
    return absl::OkStatus();
  }

  // What the bits of a run depend on besides the model and the data.
  std::string Settings(int64_t samples) const {
    std::string text =
        Cat("--optimizer=", flags_.optimizer_text, " --schedule=", flags_.schedule_text,
            " --loss=", flags_.loss_text, " --seed=", flags_.options.seed, ", batches of ",
            training_.batch, ", ", samples, " samples");
    for (const std::string& part : flags_.without_decay) text += Cat(" --no-decay=", part);
    if (flags_.loss_scale) text += Cat(" --loss-scale=", *flags_.loss_scale);
    if (flags_.batch_norm) text += " --batch-norm";
    if (flags_.dropout) text += " --dropout";
    if (!flags_.lora_text.empty()) text += Cat(" --lora=", flags_.lora_text);
    if (flags_.schedule.kind != ScheduleKind::kConstant) {
      text += Cat(", ", flags_.schedule.total, " steps");
    }
    return text;
  }

  // The states of the optimizer begin with zeros, so that the module needs no contents of them.
  absl::Status WriteStep(runtime::Session& session, Samples& samples) {
    TG_RETURN_IF_ERROR(samples.SetBatch(session, PlainOrder(samples.size()), 0).status());
    TG_RETURN_IF_ERROR(session.Run(kEvalGraph));
    std::vector<std::string> names = training_.weights;
    names.insert(names.end(), training_.statistics.begin(), training_.statistics.end());
    for (const BufferDecl& b : training_.module->buffers) {
      if (b.role == Role::kParam && !b.file.empty()) names.push_back(b.name);
    }
    TG_ASSIGN_OR_RETURN(const Tensors contents, ReadStates(session, names));
    return WriteModel(flags_.step, *training_.module, contents, {});
  }

  absl::Status WriteGradients(runtime::Session& session, Samples& samples) {
    TG_RETURN_IF_ERROR(samples.SetBatch(session, PlainOrder(samples.size()), 0).status());
    TG_RETURN_IF_ERROR(session.Run(kTrainGraph));
    TG_ASSIGN_OR_RETURN(const Tensors read, ReadStates(session, training_.gradients));
    Tensors gradients;
    for (size_t i = 0; i < training_.weights.size(); ++i) {
      gradients[training_.weights[i]] = read.at(training_.gradients[i]);
    }
    return WriteModel(flags_.gradients, *model_, gradients, {});
  }

  absl::Status Write(runtime::Session& session) {
    TG_ASSIGN_OR_RETURN(Tensors weights, training_.adapters.empty()
                                             ? ReadStates(session, training_.weights)
                                             : MergedWeights(session, training_));
    TG_ASSIGN_OR_RETURN(const Tensors statistics, ReadStates(session, training_.statistics));
    weights.insert(statistics.begin(), statistics.end());
    std::vector<std::string> others;
    for (const BufferDecl& b : training_.module->buffers) {
      if (b.role == Role::kParam && !b.file.empty() && !weights.count(b.name))
        others.push_back(b.name);
    }
    TG_ASSIGN_OR_RETURN(const Tensors fixed, ReadStates(session, others));
    if (flags_.output.ends_with(".onnx")) {
      TG_ASSIGN_OR_RETURN(const std::string changed, WithWeights(bytes_, weights));
      return WriteFile(flags_.output, changed);
    }
    return WriteModel(flags_.output, *model_, weights, fixed);
  }

  const std::string& path_;
  TrainFlags& flags_;
  std::string bytes_;  // of the model's file
  std::set<std::string, std::less<>>
      onnx_weights_;  // symbols; of an ONNX model, nothing else is trained
  std::unique_ptr<Module> model_, training_form_;  // the second one, if steps differ from runs
  TrainingModule training_;
};

}  // namespace

int TrainMain(int argc, const char* const* argv) {
  if (argc == 2 && std::string_view(argv[1]) == runtime::kCompileWorkerFlag) {
    return runtime::RunCompileWorker();
  }
  driver::ExitWhenOutOfMemory(kTool);
  driver::TolerateFullStandardError();
  runtime::KeepOpenClLayersFromChildren();
  TemporaryFile::RemoveOnSignals();
  TrainFlags values;
  driver::Flags flags(kTool, "[options] MODEL",
                      "Trains the weights of a model with samples of its inputs.");
  values.AddTo(flags);
  const absl::StatusOr<std::vector<std::string>> files =
      flags.Parse(driver::ArgumentsWithOutput(argc, argv));
  if (!files.ok()) return driver::Fail(kTool, driver::kUsage, files.status());
  if (values.help || values.version || values.list_devices) {
    const absl::StatusOr<std::string> listing =
        driver::DeviceToolListing(kTool, {values.help, values.version, values.list_devices}, flags);
    const absl::Status status = listing.ok() ? WriteStdout(*listing) : listing.status();
    return status.ok() ? driver::kOk : driver::Fail(kTool, driver::kFailed, status);
  }
  if (files->size() != 1) {
    return driver::Fail(kTool, driver::kUsage,
                        InvalidArgument("one model, not ", files->size(), "; see tg-train --help"));
  }
  if (const absl::Status status = values.Interpret(); !status.ok()) {
    return driver::Fail(kTool, driver::kUsage, status);
  }
  const absl::Status status = Run((*files)[0], values).Go();
  return status.ok() ? driver::kOk : driver::Fail(kTool, driver::kFailed, status);
}

}  // namespace tg::train
