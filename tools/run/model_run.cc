#include "tools/run/model_run.h"

#include <utility>

#include "base/status.h"
#include "ir/interpret/options.h"
#include "ir/text/diagnostic.h"
#include "ir/text/parser.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/artifact/artifact_file.h"
#include "runtime/devices/devices.h"
#include "runtime/opencl/driver_cache.h"
#include "runtime/session/open.h"
#include "runtime/session/session.h"
#include "tools/driver/input.h"
#include "tools/run/gates.h"
#include "tools/run/pass_spans.h"
#include "tools/run/progress.h"
#include "tools/run/terminal.h"
#include "tools/run/unscheduled_module.h"

namespace tg::run {

using runtime::HostTensor;
using runtime::ScopedSpan;

ModelRun::ModelRun(RunFlags flags, passes::Pipeline pipeline, passes::Pipeline half)
    : flags_(std::move(flags)),
      pipeline_(std::move(pipeline)),
      half_pipeline_(std::move(half)),
      color_(UseColor(flags_.color)) {}

absl::Status ModelRun::Run(const std::string& path) {
  is_artifact_ = artifact::IsArtifactFile(path);
  if (is_artifact_) {
    TG_RETURN_IF_ERROR(ReadArtifact(path));
  } else {
    TG_RETURN_IF_ERROR(FindDevice());
    TG_RETURN_IF_ERROR(Read(path));
  }
  TG_RETURN_IF_ERROR(ReadInputs());
  for (auto* list : {&flags_.print, &flags_.show, &flags_.classify}) JoinNames(*list);
  TG_RETURN_IF_ERROR(CheckNames());
  TG_RETURN_IF_ERROR(CheckGiven());
  TG_RETURN_IF_ERROR(Open());
  if (!flags_.dump_kernels.empty()) TG_RETURN_IF_ERROR(DumpKernels());
  TG_RETURN_IF_ERROR(Feed(*session_));
  const absl::Status ran = RunAll();
  TG_RETURN_IF_ERROR(checker_ ? ReportKernelCheck(ran) : ran);
  runtime::RunReport report;
  if (!flags_.reports.empty() || !flags_.profile.empty()) {
    TG_ASSIGN_OR_RETURN(report, MakeReport());
  }
  TG_RETURN_IF_ERROR(WriteReports(report));
  // The trace has the downloads of the results too.
  absl::Status status = ShowResults();
  if (status.ok()) status = WriteOutputs();
  if (!flags_.profile.empty()) status.Update(WriteTrace(report));
  TG_RETURN_IF_ERROR(status);
  if (flags_.float16) TG_RETURN_IF_ERROR(CompareWithFloat32());
  return CheckResults();
}

absl::Status ModelRun::FindDevice() const {
  // A model's inputs and outputs are listed without a device.
  if (flags_.devices.plain == "reference" || GivesNothing()) return absl::OkStatus();
  // Names in the module may be devices too, so that only a device for all of it is looked for.
  if (!flags_.devices.named.empty()) return runtime::ListDevices().status();
  return runtime::ChooseDevice(flags_.devices.plain).status();
}

absl::Status ModelRun::Read(const std::string& path) {
  const ScopedSpan span(&spans_, "read");
  path_ = path;
  TG_ASSIGN_OR_RETURN(text_, ReadTextFile(path));
  is_onnx_ = model::IsOnnxInput(text_, path, flags_.input_format);
  if (!is_onnx_ && !flags_.max_sizes.empty()) {
    return InvalidArgument("--max ", flags_.max_sizes.begin()->first,
                           ": it is for ONNX models; a module declares the greatest "
                           "values of its variables");
  }
  if (is_onnx_) TG_RETURN_IF_ERROR(ReadOnnxInputs());
  if (is_onnx_ && WantsList()) TG_RETURN_IF_ERROR(ListOnnxModel(path));
  Diagnostics diagnostics;
  module_ = model::ReadInput(text_, path, flags_.input_format, diagnostics, onnx_);
  if (!module_) {
    llvm::errs() << diagnostics.ToString();
    return absl::InvalidArgumentError("");
  }
  TG_RETURN_IF_ERROR(flags_.allowed.AddTo(*module_));
  for (const auto& [name, value] : flags_.vars) {
    // A model's dimension with a given size is not a variable.
    if (!is_onnx_ || module_->FindVar(SymbolOf(name))) vars_[SymbolOf(name)] = value;
  }
  graphs_ = runtime::NeedsOfGraphs(*module_);
  return FindGraph();
}

absl::Status ModelRun::FindGraph() {
  std::vector<std::string_view> names;
  for (const runtime::GraphNeeds& graph : graphs_) names.push_back(graph.name);
  TG_ASSIGN_OR_RETURN(const size_t found,
                      runtime::FindGraphToRun(module_->name, names, flags_.graph));
  graph_ = &graphs_[found];
  return absl::OkStatus();
}

absl::Status ModelRun::Open() {
  if (is_artifact_) return OpenArtifact();
  if (flags_.devices.plain != "reference") return OpenDevice();
  for (const auto& [flag, given] :
       {std::pair("--profile", !flags_.profile.empty()),
        std::pair("--dump-kernels", !flags_.dump_kernels.empty()),
        std::pair("--report", !flags_.reports.empty()),
        std::pair("--max-kernels", flags_.gates.max_kernels.has_value()),
        std::pair("--max-memory", flags_.gates.max_memory_bytes.has_value()),
        std::pair("--schedules", !flags_.schedules.empty()),
        std::pair("--search", flags_.search.has_value()), std::pair("--float16", flags_.float16)}) {
    if (given) return InvalidArgument(flag, " needs a device; the interpreter is none");
  }
  session_ =
      std::make_unique<runtime::ReferenceSession>(Clone(*module_), interpret::OptionsFor(*module_));
  return absl::OkStatus();
}

absl::Status ModelRun::Search(const passes::Pipeline& pipeline) {
  const ScopedSpan span(&spans_, "search");
  runtime::ShapesByName shapes;
  for (const auto& [name, tensor] : inputs_) shapes[name] = tensor.shape;
  TG_ASSIGN_OR_RETURN(const runtime::VarMap vars, runtime::ResolveVars(*module_, vars_, shapes));
  const driver::TuneRequest request = {*flags_.search,
                                       flags_.devices.plain,
                                       flags_.target,
                                       passes::PrintPipeline(pipeline),
                                       {{graph_->name, vars}}};
  TG_ASSIGN_OR_RETURN(found_, driver::SearchWithTune(*module_, request));
  flags_.schedules = found_->file();
  return absl::OkStatus();
}

absl::Status ModelRun::OpenDevice() {
  const passes::Pipeline& pipeline = flags_.float16 ? half_pipeline_ : pipeline_;
  if (flags_.search) TG_RETURN_IF_ERROR(Search(pipeline));
  TG_ASSIGN_OR_RETURN(std::unique_ptr<runtime::DeviceSession> session, Compile(pipeline));
  device_ = session.get();
  session_ = std::move(session);
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<runtime::DeviceSession>> ModelRun::Compile(
    const passes::Pipeline& pipeline) {
  runtime::OpenOptions options = OpenOptionsOf(flags_.check_kernels);
  options.pipeline = pipeline;
  options.target = flags_.target;
  options.schedules = flags_.schedules;
  options.on_devices = [&](runtime::DeviceSessionOptions& session) {
    TellDevices(session);
    return absl::OkStatus();
  };
  CompileProgress progress;
  if (flags_.cache) {
    options.ahead.worker = "/proc/self/exe";
    options.ahead.progress = [&](size_t done, size_t total) { progress.Show(done, total); };
  }
  UnscheduledModule unscheduled(flags_.verbose >= 3 ? &costs_ : nullptr);
  passes::PassObserver* costs = flags_.verbose >= 3 ? &costs_ : nullptr;
  PassSpans observer(spans_, flags_.check_kernels ? &unscheduled : costs);
  options.passes.log = &llvm::errs();
  options.passes.observer = &observer;
  // A second module, with which the results are compared, has no bounds.
  options.devices.specialize = device_ == nullptr && flags_.specialize;
  if (device_ == nullptr) {
    options.on_compiled = [&](const Module& compiled, runtime::DeviceSessionOptions& session) {
      if (flags_.check_kernels) {
        unscheduled_ = unscheduled.Take(compiled);
        CheckKernelsOf(compiled, session);
      }
      specializer_ = std::static_pointer_cast<specialize::Specializer>(session.chooser);
      return CheckBounds(compiled, session);
    };
  }
  return runtime::OpenDeviceSession(Clone(*module_), options);
}

runtime::OpenOptions ModelRun::OpenOptionsOf(bool is_observed) {
  runtime::OpenOptions options;
  options.devices = flags_.devices;
  options.spans = &spans_;
  options.time_kernels =
      !is_observed && (flags_.verbose >= 1 || !flags_.profile.empty() || !flags_.reports.empty());
  if (flags_.cache && !cache_) {
    cache_ = std::make_unique<runtime::DiskCache>(runtime::DefaultCacheDirectory());
  }
  options.cache = cache_.get();
  return options;
}

void ModelRun::TellDevices(const runtime::DeviceSessionOptions& session) {
  targets_ = {session.target};
  for (const runtime::NamedDevice& d : session.others) targets_.push_back(d.target);
  runtime::ExplainDriverCrashes("tg-run", session.context->info());
  const auto tell = [](const std::vector<std::string>& names, const runtime::Context& context,
                       const passes::Target& target) {
    llvm::outs() << "device " << context.name();
    for (const std::string& name : names) {
      if (!name.empty()) llvm::outs() << " '" << name << "'";
    }
    llvm::outs() << ", target " << target.name << "\n";
  };
  if (flags_.verbose < 3) return;
  tell(session.names, *session.context, session.target);
  for (const runtime::NamedDevice& d : session.others) tell(d.names, *d.context, d.target);
}

absl::Status ModelRun::CheckBounds(const Module& compiled,
                                   const runtime::DeviceSessionOptions& session) const {
  const Graph& graph = *compiled.FindGraph(graph_->name);
  TG_RETURN_IF_ERROR(CheckGates(compiled, graph, flags_.gates));
  runtime::ShapesByName shapes;
  for (const auto& [name, tensor] : inputs_) shapes[name] = tensor.shape;
  TG_ASSIGN_OR_RETURN(const runtime::VarMap vars, runtime::ResolveVars(compiled, vars_, shapes));
  return CheckDeviceMemory(compiled, graph, vars, runtime::DevicesOf(compiled, session),
                           SizeOptionsOf());
}

absl::Status ModelRun::Feed(runtime::Session& session) const {
  for (const auto& [name, value] : vars_) TG_RETURN_IF_ERROR(session.SetVar(name, value));
  for (const auto& [name, tensor] : inputs_) TG_RETURN_IF_ERROR(session.Set(name, tensor));
  return absl::OkStatus();
}

absl::Status ModelRun::RunAll() {
  for (int64_t i = 0; i < flags_.repeat; ++i) {
    const int64_t start = runtime::HostNanos();
    TG_RETURN_IF_ERROR(session_->Run(graph_->name));
    const int64_t end = runtime::HostNanos();
    if (device_) {
      const runtime::RunTimes& times = device_->last_times();
      spans_.push_back({"run", times.start, times.end});
      run_seconds_.push_back(times.seconds());
      if (!device_->devices()[0]->context()->info().is_native) {
        enqueue_seconds_.push_back(times.enqueue_seconds());
      }
      KeepLeast(times);
      if (!flags_.profile.empty()) runs_.push_back(times);
    } else {
      spans_.push_back({"run", start, end});
      run_seconds_.push_back(spans_.back().seconds());
    }
  }
  if (checker_ == nullptr && (flags_.verbose >= 1 || flags_.repeat > 1)) Report();
  return absl::OkStatus();
}

void ModelRun::KeepLeast(const runtime::RunTimes& times) {
  // Runs of a plan for one size have other kernels.
  const std::string size = specializer_ ? specializer_->last_size() : std::string();
  if (least_.kernels.size() != times.kernels.size() || size != least_size_) least_ = times;
  least_size_ = size;
  if (times.seconds() < least_.seconds()) {
    least_.start = times.start;
    least_.end = times.end;
  }
  for (size_t i = 0; i < times.kernels.size(); ++i) {
    if (times.kernels[i].seconds() < least_.kernels[i].seconds()) {
      least_.kernels[i] = times.kernels[i];
    }
  }
}

absl::StatusOr<std::unique_ptr<runtime::ReferenceSession>> ModelRun::RunReference(
    bool track_error) {
  const ScopedSpan span(&spans_, "interpret");
  interpret::InterpretOptions options = interpret::OptionsFor(*module_);
  options.track_error = track_error;
  auto reference = std::make_unique<runtime::ReferenceSession>(Clone(*module_), options);
  TG_RETURN_IF_ERROR(Feed(*reference));
  for (int64_t i = 0; i < flags_.repeat; ++i) TG_RETURN_IF_ERROR(reference->Run(graph_->name));
  return reference;
}

}  // namespace tg::run
