// What a model takes and gives, for a run without inputs and for errors about sizes.
#include "frontend/onnx/signature.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "frontend/onnx/import_onnx.h"
#include "ir/measure.h"
#include "llvm/Support/raw_ostream.h"
#include "runtime/session/given.h"
#include "runtime/session/params.h"
#include "runtime/session/tensors.h"
#include "tools/run/model_run.h"
#include "tools/run/shell.h"

namespace tg::run {

namespace {

struct Line {
  std::string name, what;
};

void PrintLines(std::string_view title, const std::vector<Line>& lines) {
  if (lines.empty()) return;
  size_t width = 0;
  for (const Line& line : lines) width = std::max(width, line.name.size());
  llvm::outs() << title << "\n";
  for (const Line& line : lines) {
    llvm::outs() << "  " << line.name << std::string(width - line.name.size() + 2, ' ') << line.what
                 << "\n";
  }
}

std::string FileName(const std::string& name) { return onnx::OnnxSymbol(name) + ".npy"; }

// The command that gives these inputs and variables.
std::string CommandLine(const std::string& path, const std::vector<Line>& inputs,
                        const std::vector<Line>& vars, const std::vector<Line>& outputs) {
  std::string command = Cat("tg-run ", ShellQuoted(path));
  for (const Line& v : vars) command += Cat(" --var=", ShellQuoted(v.name), "=NUMBER");
  for (const Line& i : inputs)
    command += Cat(" --input ", ShellQuoted(i.name + "=" + FileName(i.name)));
  for (const Line& o : outputs) {
    command += Cat(" --output ", ShellQuoted(o.name + "=" + FileName(o.name)));
  }
  return command;
}

}  // namespace

absl::Status ModelRun::ListOnnxModel(const std::string& path) const {
  const absl::StatusOr<onnx::OnnxSignature> model = onnx::ReadOnnxSignature(text_);
  // A file that is not a model is reported when it is read as one.
  if (!model.ok() || model->inputs.empty()) return absl::OkStatus();
  std::vector<Line> inputs, outputs, dimensions;
  std::set<std::string> known;
  bool is_readable = true;
  for (const onnx::OnnxValueInfo& input : model->inputs) {
    inputs.push_back({input.name, input.ToString()});
    if (!input.scalar && input.is_tensor) {
      inputs.back().what += ", a type that tg does not read";
      is_readable = false;
    }
    for (const onnx::OnnxDimension& dim :
         input.shape.value_or(std::vector<onnx::OnnxDimension>())) {
      const std::string& d = dim.name;
      if (dim.size || !known.insert(d).second) continue;
      const auto size = onnx_.sizes.find(d);
      const auto max = onnx_.max_sizes.find(d);
      dimensions.push_back({d, size != onnx_.sizes.end()      ? std::to_string(size->second)
                               : max != onnx_.max_sizes.end() ? Cat("up to ", max->second)
                                                              : "as in the input that is given"});
    }
  }
  for (const onnx::OnnxValueInfo& output : model->outputs)
    outputs.push_back({output.name, output.ToString()});
  PrintLines("inputs", inputs);
  PrintLines("outputs", outputs);
  PrintLines("dimensions (--var=NAME=N gives one a size, --max=NAME=N makes it variable up to N)",
             dimensions);
  std::vector<Line> sizes;
  if (const auto module = onnx::ImportOnnx(text_, path, onnx_); module.ok()) {
    for (const auto& graph : (*module)->graphs) {
      for (const UOp* u : graph->body.root->srcs()) {
        if (!IsMeasure(u)) continue;
        const auto name = graph->body.context->String(static_cast<StringId>(u->src(0)->word()));
        sizes.push_back({std::string(name), Cat("up to ", (*module)->FindVar(name)->max)});
      }
    }
  }
  PrintLines("sizes that depend on data (--max=NAME=N bounds one by N)", sizes);
  if (is_readable) {
    llvm::outs() << "run it by\n  " << CommandLine(path, inputs, {}, outputs) << "\n";
  }
  llvm::outs().flush();
  if (!is_readable) return absl::OkStatus();  // the import says why
  return absl::FailedPreconditionError(Cat("no input is given; the model needs ", inputs.size(),
                                           inputs.size() == 1 ? " input" : " inputs"));
}

SizeOptions ModelRun::SizeOptionsOf() const {
  SizeOptions options;
  for (const NamedFile& input : flags_.inputs) {
    const BufferDecl* buffer = module_->FindBuffer(SymbolOf(input.name));
    if (buffer == nullptr) continue;
    for (const DeclDim& dim : buffer->shape) {
      dim.ForEachVar([&](const std::string& var) { options.fixed.insert(var); });
    }
  }
  const absl::StatusOr<onnx::OnnxSignature> model =
      is_onnx_ ? onnx::ReadOnnxSignature(text_)
               : absl::StatusOr<onnx::OnnxSignature>(onnx::OnnxSignature());
  if (!model.ok()) return options;
  for (const onnx::OnnxValueInfo& input : model->inputs) {
    for (const onnx::OnnxDimension& dim :
         input.shape.value_or(std::vector<onnx::OnnxDimension>())) {
      if (!dim.size) options.dimensions.emplace(onnx::OnnxSymbol(dim.name), dim.name);
    }
  }
  return options;
}

void ModelRun::ListModule(const std::vector<runtime::Needs>& needs) const {
  std::vector<Line> inputs, outputs, vars, asked;
  std::set<std::string> known;
  for (const runtime::Needs& n : needs) {
    for (const BufferDecl* buffer : n.buffers) {
      if (!known.insert(buffer->name).second) continue;
      const Line line = {buffer->name, runtime::DeclaredType(*buffer)};
      if (buffer->role == Role::kInput) inputs.push_back(line);
      if (buffer->role == Role::kParam && !runtime::HasContents(*buffer)) inputs.push_back(line);
      if (buffer->role == Role::kOutput) outputs.push_back(line);
    }
  }
  // A variable that is an extent of an input follows from it.
  std::set<std::string> follows;
  for (const BufferDecl& buffer : module_->buffers) {
    for (const DeclDim& d : buffer.shape) {
      if (buffer.role == Role::kInput && known.count(buffer.name) && !d.var.empty()) {
        follows.insert(d.var);
      }
    }
  }
  for (const runtime::Needs& n : needs) {
    for (const VarDecl* var : n.vars) {
      if (!known.insert(var->name).second) continue;
      const bool is_asked = !follows.count(var->name) && var->min != var->max;
      vars.push_back({var->name, Cat(var->min, " to ", var->max,
                                     is_asked ? "" : ", as in the input that is given")});
      if (is_asked) asked.push_back(vars.back());
    }
  }
  PrintLines("inputs", inputs);
  PrintLines("outputs", outputs);
  PrintLines("variables", vars);
  llvm::outs() << "run it by\n  " << CommandLine(module_->path, inputs, asked, outputs) << "\n";
  llvm::outs().flush();
}

}  // namespace tg::run
