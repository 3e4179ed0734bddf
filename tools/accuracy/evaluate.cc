#include "tools/accuracy/evaluate.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status.h"
#include "ir/interpret/options.h"
#include "ir/text/parser.h"
#include "runtime/devices/devices.h"
#include "runtime/session/compile.h"
#include "runtime/session/device_session_options.h"
#include "runtime/session/device_target.h"
#include "runtime/session/reference_session.h"
#include "runtime/session/tensors.h"

namespace tg::accuracy {
namespace {

// Number of elements that one run computes; the last run is padded.
constexpr size_t kBlock = size_t{1} << 16;

Scalar ResultOf(const Function& function, Scalar scalar) {
  return function.result == Scalar::kVoid ? scalar : function.result;
}

std::string ProgramText(const Function& function, Scalar scalar, bool contract, size_t size) {
  const std::string type(GetScalarInfo(scalar).text);
  const std::string declared = absl::StrCat(" : ", type, "[", size, "]");
  const std::string result(GetScalarInfo(ResultOf(function, scalar)).text);
  std::string text =
      absl::StrCat("tg 1\nmodule @accuracy", contract ? "" : " {flags = [\"no-contract\"]}", "\n");
  absl::StrAppend(&text, "buffer @x", declared, " input\n");
  if (function.arity == 2) absl::StrAppend(&text, "buffer @y", declared, " input\n");
  absl::StrAppend(&text, "buffer @r : ", result, "[", size, "] output\n\ngraph @main {\n");
  absl::StrAppend(&text, "  %x = buffer @x : ", type, "\n");
  if (function.arity == 2) absl::StrAppend(&text, "  %y = buffer @y : ", type, "\n");
  absl::StrAppend(&text, absl::StrReplaceAll(function.body, {{"$t", type}}),
                  "  sink %r -> @r\n}\n");
  return text;
}

absl::Status SetInput(runtime::Session& session, std::string_view name, Scalar scalar,
                      std::span<const int64_t> values, size_t size) {
  interpret::HostBuffer buffer;
  buffer.dtype = DType(scalar);
  buffer.shape = {static_cast<int64_t>(size)};
  buffer.data.assign(values.begin(), values.end());
  buffer.data.resize(size, values.back());
  TG_ASSIGN_OR_RETURN(const runtime::HostTensor tensor, runtime::ToHostTensor(buffer));
  return session.Set(name, tensor);
}

}  // namespace

std::string Implementation::Name() const {
  if (kind == Kind::kInterpreter) return "interpreter";
  return absl::StrCat(kind == Kind::kOwn ? "own" : "device", scalars ? ", scalars" : "",
                      contract ? "" : ", no-contract");
}

absl::StatusOr<std::unique_ptr<Evaluator>> Evaluator::Open(std::string_view device) {
  auto evaluator = std::make_unique<Evaluator>();
  TG_ASSIGN_OR_RETURN(const runtime::Device chosen, runtime::ChooseDevice(device));
  evaluator->name_ = chosen.info.name;
  TG_ASSIGN_OR_RETURN(evaluator->context_, runtime::OpenContext(chosen, /*profiling=*/false));
  return evaluator;
}

bool Evaluator::is_pocl() const { return context_->info().is_pocl; }
bool Evaluator::is_native() const { return context_->info().is_native; }

absl::StatusOr<std::unique_ptr<runtime::Session>> Evaluator::Compile(
    std::unique_ptr<Module> module, const Implementation& by) const {
  if (by.kind == Implementation::Kind::kInterpreter) {
    const interpret::InterpretOptions options = interpret::OptionsFor(*module);
    return std::make_unique<runtime::ReferenceSession>(std::move(module), options);
  }
  runtime::DeviceSessionOptions options;
  options.context = context_;
  options.target = runtime::TargetForDevice(context_->info());
  // Machine code calls no library, so that a native device has tg's functions alone.
  options.target.own_functions.reset();
  if (by.kind == Implementation::Kind::kOwn || is_native())
    options.target.own_functions = passes::AllMathFunctions();
  if (by.scalars) options.target.alu_width = 0;
  TG_RETURN_IF_ERROR(runtime::CompileForTarget(*module, options.target));
  return runtime::DeviceSession::Create(std::move(module), options);
}

absl::StatusOr<std::vector<int64_t>> Evaluator::Run(const Function& function, Scalar scalar,
                                                    const Implementation& by,
                                                    std::span<const int64_t> x,
                                                    std::span<const int64_t> y) const {
  const size_t size = std::min(kBlock, x.size());
  std::unique_ptr<Module> module;
  if (function.node) {
    const auto extent = static_cast<int64_t>(size);
    std::vector<NodeInput> inputs{{"x", scalar, {extent}}};
    if (function.arity == 2) inputs.push_back({"y", scalar, {extent}});
    TG_ASSIGN_OR_RETURN(module, ImportNode(*function.node, inputs));
  } else {
    Diagnostics diagnostics;
    const std::string text = ProgramText(function, scalar, by.contract, size);
    module = ParseModule(text, "accuracy.uop", diagnostics);
    if (!module) return InvalidArgument(diagnostics.ToString());
  }
  TG_ASSIGN_OR_RETURN(const std::unique_ptr<runtime::Session> session,
                      Compile(std::move(module), by));

  std::vector<int64_t> result;
  result.reserve(x.size());
  for (size_t at = 0; at < x.size(); at += size) {
    const size_t count = std::min(size, x.size() - at);
    TG_RETURN_IF_ERROR(SetInput(*session, "x", scalar, x.subspan(at, count), size));
    if (function.arity == 2) {
      TG_RETURN_IF_ERROR(SetInput(*session, "y", scalar, y.subspan(at, count), size));
    }
    TG_RETURN_IF_ERROR(session->Run("main"));
    TG_ASSIGN_OR_RETURN(const runtime::HostTensor tensor, session->Get("r"));
    for (size_t i = 0; i < count; ++i) {
      result.push_back(interpret::LoadBits(ResultOf(function, scalar), tensor.data.data(), i));
    }
  }
  return result;
}

absl::StatusOr<std::vector<interpret::HostBuffer>> Evaluator::RunNode(
    const OnnxNode& node, std::span<const NodeData> inputs, const Implementation& by) const {
  std::vector<NodeInput> declared;
  for (const NodeData& i : inputs) declared.push_back(i.input);
  TG_ASSIGN_OR_RETURN(std::unique_ptr<Module> module, ImportNode(node, declared));
  TG_ASSIGN_OR_RETURN(const std::unique_ptr<runtime::Session> session,
                      Compile(std::move(module), by));
  for (const NodeData& i : inputs) {
    if (!i.input.constant.empty()) continue;
    interpret::HostBuffer buffer{DType(i.input.type), i.input.shape, i.bits};
    TG_ASSIGN_OR_RETURN(const runtime::HostTensor tensor, runtime::ToHostTensor(buffer));
    TG_RETURN_IF_ERROR(session->Set(i.input.name, tensor));
  }
  TG_RETURN_IF_ERROR(session->Run("main"));
  std::vector<interpret::HostBuffer> results;
  for (const std::string& name : node.outputs) {
    TG_ASSIGN_OR_RETURN(const runtime::HostTensor tensor, session->Get(name));
    interpret::HostBuffer& r = results.emplace_back();
    r.dtype = DType(runtime::ScalarOf(tensor.type));
    r.shape = tensor.shape;
    for (int64_t i = 0; i < interpret::NumElements(r.shape); ++i) {
      r.data.push_back(
          interpret::LoadBits(r.dtype.scalar(), tensor.data.data(), static_cast<size_t>(i)));
    }
  }
  return results;
}

}  // namespace tg::accuracy
