#include "frontend/onnx/import_onnx.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "frontend/common/graph_builder.h"
#include "frontend/onnx/graph_importer.h"
#include "frontend/onnx/onnx_tensors.h"
#include "frontend/onnx/proto.h"
#include "frontend/onnx/signature.h"
#include "ir/walk.h"

namespace tg::onnx {
namespace {

using onnx::Dimension;
using onnx::TypeProto;
using onnx::ValueInfo;

absl::Status Bad(std::string_view name, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat("'", std::string(name), "': ", why));
}

bool IsFixed(const Dimension& dim) { return dim.value && *dim.value >= 0; }

// Whether there are exponentials, as of a softmax, and values that are rounded to halves.
bool HasHalfExponentials(const Body& body) {
  bool exponentials = false, rounds = false;
  for (const UOp* u : PostOrder(body.root)) {
    const Scalar s = u->dtype.scalar();
    exponentials |= u->op == Op::kExp2;
    rounds |= u->op == Op::kCast && (s == Scalar::kF16 || s == Scalar::kBF16);
  }
  return exponentials && rounds;
}

class ModelImporter {
 public:
  ModelImporter(const onnx::Model& model, std::string_view bytes, const std::string& path,
                const OnnxImportOptions& options, bool prefers_contents)
      : model_(model), options_(options), module_(std::make_unique<Module>()) {
    module_->path = path;
    const std::string file = path.substr(path.rfind('/') + 1);  // npos + 1 is 0
    module_->name = frontend::SymbolFrom(file.substr(0, file.rfind('.')));
    graph_ = module_->graphs.emplace_back(std::make_unique<Graph>()).get();
    graph_->name = "main";
    g_ = std::make_unique<frontend::GraphBuilder>(*module_, graph_->body);
    training_ = std::make_unique<onnx::TrainingImport>(options.training, *module_, *g_);
    importer_ = std::make_unique<onnx::GraphImporter>(model, bytes, file, *g_);
    importer_->SetSizes(options.max_sizes, options.default_max, prefers_contents);
    importer_->SetWeights(&options_.weights);
    importer_->SetTraining(training_.get());
  }

  absl::StatusOr<std::unique_ptr<Module>> Run() {
    if (absl::Status s = importer_->CheckOperators(); !s.ok()) return s;
    if (absl::Status s = DeclareInputs(); !s.ok()) return s;
    if (absl::Status s = importer_->RunNodes(model_.graph); !s.ok()) return s;
    if (absl::Status s = CheckMaxSizes(); !s.ok()) return s;
    if (absl::Status s = DeclareOutputs(); !s.ok()) return s;
    DropUnused();
    // Other runtimes keep softmaxes of halves, and what is between the kernels that they fuse, in
    // f32.
    if (HasHalfExponentials(graph_->body)) module_->flags.Add(ModuleFlag::kWideHalves);
    return std::move(module_);
  }

  // Dimensions that are given a size below the least one of the variable that they became: 0, or
  // 1 where the model needs more.
  std::map<std::string, int64_t, std::less<>> TooSmall(const Module& module) const {
    std::map<std::string, int64_t, std::less<>> sizes;
    for (const ValueInfo& input : model_.graph.inputs) {
      const auto given = options_.input_shapes.find(input.name);
      if (given == options_.input_shapes.end() || !input.type.shape) continue;
      for (size_t i = 0; i < std::min(given->second.size(), input.type.shape->size()); ++i) {
        const std::string name = OnnxDimensionName((*input.type.shape)[i].param, input.name, i);
        const VarDecl* var = module.FindVar(frontend::SymbolFrom(name));
        const bool is_open = !IsFixed((*input.type.shape)[i]);
        if (is_open && var && given->second[i] < var->min) sizes[name] = given->second[i];
      }
    }
    return sizes;
  }

 private:
  // Each name is an open dimension, or a size that depends on data.
  absl::Status CheckMaxSizes() const {
    std::set<std::string> known;
    for (const ValueInfo& input : model_.graph.inputs) {
      for (size_t i = 0; input.type.shape && i < input.type.shape->size(); ++i) {
        known.insert(OnnxDimensionName((*input.type.shape)[i].param, input.name, i));
      }
    }
    std::string others;
    for (const std::string& name : importer_->data_sizes()) {
      known.insert(name);
      known.insert(frontend::SymbolFrom(name));
      absl::StrAppend(&others, others.empty() ? "; sizes that depend on data: " : ", ", name);
    }
    for (const auto& [name, max] : options_.max_sizes) {
      if (known.contains(name)) continue;
      return absl::InvalidArgumentError(absl::StrCat("there is no size '", name, "'", others));
    }
    return absl::OkStatus();
  }

  absl::Status DeclareInputs() {
    std::set<std::string_view> initialized;
    for (const auto& t : model_.graph.initializers) initialized.insert(t.name);
    for (const ValueInfo& input : model_.graph.inputs) {
      // An input with an initializer is a weight (IR version 3 wants it listed).
      if (initialized.count(input.name)) continue;
      if (importer_->Find(input.name)) return Bad(input.name, "two inputs of this name");
      absl::StatusOr<onnx::Tensor> value = DeclareInput(input);
      if (!value.ok()) return value.status();
      importer_->Define(input.name, *std::move(value));
    }
    return absl::OkStatus();
  }

  absl::StatusOr<onnx::Tensor> DeclareInput(const ValueInfo& input) {
    const TypeProto& type = input.type;
    // An optional is empty unless something is given.
    const bool is_given = options_.input_shapes.count(input.name) != 0;
    switch (type.kind) {
      case TypeProto::Kind::kTensor:
        return type.is_optional && !is_given ? onnx::Tensor() : DeclareTensor(input.name, type);
      case TypeProto::Kind::kSequence: {
        auto list = std::make_shared<std::vector<onnx::Tensor>>();
        // The elements of a sequence may have different extents, so the declared shape is not used.
        TypeProto element_type;
        element_type.kind = type.kind;
        element_type.is_optional = type.is_optional;
        element_type.element = type.element;
        while (true) {
          const std::string name = absl::StrCat(std::string(input.name), ".", list->size());
          if (!options_.input_shapes.count(name)) break;
          absl::StatusOr<onnx::Tensor> element = DeclareTensor(name, element_type);
          if (!element.ok()) return element.status();
          list->push_back(*std::move(element));
        }
        const bool is_empty = list->empty() && !options_.empty_sequences.count(input.name);
        if (is_empty && type.is_optional) return onnx::Tensor();
        if (is_empty) {
          const std::string name(input.name);
          return Bad(name, absl::StrCat("a sequence, whose elements must be given as ", name,
                                        ".0, ", name, ".1 and so on"));
        }
        return onnx::Tensor{nullptr, type.element, std::move(list)};
      }
      default:
        return Bad(input.name, "an input that is no tensor and no sequence of tensors");
    }
  }

  absl::StatusOr<onnx::Tensor> DeclareTensor(std::string_view name, const TypeProto& type) {
    const auto scalar = onnx::ScalarFor(type.element);
    if (!scalar) {
      return Bad(name,
                 absl::StrCat("an input of type ", std::string(onnx::TypeName(type.element))));
    }
    BufferDecl decl;
    decl.dtype = *scalar;
    decl.role = Role::kInput;
    if (absl::Status s = ShapeOfInput(name, type, decl.shape); !s.ok()) return s;
    const frontend::Value value = g_->Declare(name, std::move(decl));
    if (!value) return Bad(name, g_->error());
    const auto values = options_.input_values.find(name);
    if (values != options_.input_values.end()) {
      g_->GiveInput(module_->buffers.back().name, values->second);
    }
    return onnx::Tensor{value, type.element, nullptr};
  }

  absl::Status ShapeOfInput(std::string_view input, const TypeProto& type,
                            std::vector<DeclDim>& shape) {
    const auto given = options_.input_shapes.find(input);
    const bool is_given = given != options_.input_shapes.end();
    if (!type.shape) {
      if (!is_given) return Bad(input, "an input of unknown rank");
      for (const int64_t d : given->second) shape.push_back({.size = d});
      return absl::OkStatus();
    }
    const std::vector<Dimension>& dims = *type.shape;
    if (is_given && given->second.size() != dims.size()) {
      return Bad(input, absl::StrCat("the model has rank ", dims.size(),
                                     ", what is given has rank ", given->second.size()));
    }
    for (size_t i = 0; i < dims.size(); ++i) {
      DeclDim& dim = shape.emplace_back();
      if (IsFixed(dims[i])) {
        dim.size = *dims[i].value;
        continue;
      }
      const std::string name = OnnxDimensionName(dims[i].param, input, i);
      const auto size = sizes_.find(name);
      const auto fixed = options_.sizes.find(name);
      const auto max = options_.max_sizes.find(name);
      if (size != sizes_.end()) {
        dim.size = size->second;
      } else if (fixed != options_.sizes.end()) {
        dim.size = fixed->second;
      } else if (max == options_.max_sizes.end() && is_given) {
        dim.size = sizes_[name] = given->second[i];
      } else if (max != options_.max_sizes.end() && max->second == 1) {
        // The least size too, and a number makes better kernels than a variable.
        dim.size = sizes_[name] = 1;
      } else {
        const std::string symbol = frontend::SymbolFrom(name);
        if (!module_->FindVar(symbol)) {
          const int64_t greatest =
              max != options_.max_sizes.end() ? max->second : options_.default_max;
          module_->vars.push_back({.name = symbol, .min = 1, .max = greatest});
        }
        dim.var = symbol;
        if (is_given) g_->GiveSize(symbol, given->second[i]);
        importer_->NameDimension(symbol, name);
      }
    }
    return absl::OkStatus();
  }

  absl::Status DeclareOutputs() {
    if (model_.graph.outputs.empty()) {
      return absl::InvalidArgumentError("the model has no outputs");
    }
    for (const ValueInfo& output : model_.graph.outputs) {
      const onnx::Tensor* found = importer_->Find(output.name);
      absl::Status status;
      if (found && found->sequence) {
        for (size_t i = 0; i < found->sequence->size() && status.ok(); ++i) {
          status = DeclareOutput(absl::StrCat(std::string(output.name), ".", i),
                                 (*found->sequence)[i].value);
        }
      } else if (found && !found->value && output.type.is_optional) {
        continue;  // an empty one
      } else {
        status = DeclareOutput(output.name, found ? found->value : nullptr);
      }
      if (!status.ok()) return status;
    }
    for (const UOp* write : training_->TakeWrites()) {
      roots_.push_back(write);
      targets_.emplace_back();
    }
    std::set<std::string_view> measured;
    for (const UOp* bind : g_->MeasuresOf(roots_)) {
      roots_.push_back(bind);
      targets_.emplace_back();
      measured.insert(graph_->body.context->String(static_cast<StringId>(bind->src(0)->word())));
    }
    std::erase_if(module_->vars, [&](const VarDecl& var) {
      return g_->CountOf(var.name) != nullptr && !measured.contains(var.name);
    });
    const std::vector<std::string_view> views(targets_.begin(), targets_.end());
    graph_->body.root = g_->ir().Sink(roots_, views);
    return absl::OkStatus();
  }

  absl::Status DeclareOutput(std::string_view name, frontend::Value value) {
    if (!value) return Bad(name, "nothing computes this output");
    BufferDecl decl;
    decl.dtype = value->dtype;
    decl.role = Role::kOutput;
    for (const Dim& d : g_->ShapeOf(value)) {
      std::optional<DeclDim> dim = DeclDim::From(*graph_->body.context, d);
      if (!dim) {
        return Bad(name,
                   "its shape is an expression of dimensions that no declaration can hold; give "
                   "the dimensions their sizes");
      }
      decl.shape.push_back(*std::move(dim));
    }
    roots_.push_back(value);
    g_->Declare(name, std::move(decl));
    targets_.push_back(module_->buffers.back().name);
    return absl::OkStatus();
  }

  // Weights, constants and loops that no output needs.
  void DropUnused() {
    std::set<std::string, std::less<>> used;
    std::vector<const Graph*> graphs = {graph_};
    for (size_t i = 0; i < graphs.size(); ++i) {
      const Context& context = *graphs[i]->body.context;
      const auto name = [&](const UOp* u) {
        return std::string(context.String(static_cast<StringId>(u->word(0))));
      };
      for (const UOp* u : PostOrder(graphs[i]->body.root)) {
        if (u->op == Op::kBuffer) used.insert(name(u));
        if (u->op != Op::kRepeat) continue;
        const Graph* body = module_->FindGraph(name(u));
        if (std::find(graphs.begin(), graphs.end(), body) == graphs.end()) graphs.push_back(body);
      }
    }
    std::erase_if(module_->graphs, [&](const std::unique_ptr<Graph>& graph) {
      return std::find(graphs.begin(), graphs.end(), graph.get()) == graphs.end();
    });
    std::erase_if(module_->buffers, [&](const BufferDecl& decl) {
      return (decl.role == Role::kParam || decl.role == Role::kTemp) && !used.contains(decl.name);
    });
  }

  const onnx::Model& model_;
  const OnnxImportOptions& options_;
  std::unique_ptr<Module> module_;
  Graph* graph_ = nullptr;
  std::unique_ptr<frontend::GraphBuilder> g_;
  std::unique_ptr<onnx::TrainingImport> training_;
  std::unique_ptr<onnx::GraphImporter> importer_;
  std::map<std::string, int64_t, std::less<>>
      sizes_;                      // that given inputs, or a greatest size of 1, decided
  std::vector<const UOp*> roots_;  // the outputs
  std::vector<std::string> targets_;
};

}  // namespace

bool IsOnnxModel(std::string_view bytes) { return onnx::LooksLikeModel(bytes); }

std::string OnnxSymbol(std::string_view name) { return frontend::SymbolFrom(name); }

absl::StatusOr<std::unique_ptr<Module>> ImportOnnx(std::string_view bytes, const std::string& path,
                                                   const OnnxImportOptions& options) {
  absl::StatusOr<onnx::Model> model = onnx::ParseModel(bytes);
  absl::Status status = model.status();
  const auto import = [&](bool prefers_contents) -> absl::StatusOr<std::unique_ptr<Module>> {
    ModelImporter importer(*model, bytes, path, options, prefers_contents);
    auto module = importer.Run();
    if (!module.ok()) return module;
    const auto sizes = importer.TooSmall(**module);
    if (sizes.empty()) return module;
    // Those dimensions are fixed.
    OnnxImportOptions fixed = options;
    for (const auto& [name, size] : sizes) {
      fixed.max_sizes.erase(name);
      fixed.sizes[name] = size;
    }
    return ModelImporter(*model, bytes, path, fixed, prefers_contents).Run();
  };
  if (model.ok()) {
    auto module = import(/*prefers_contents=*/false);
    // Perhaps something needs a number before the run that follows from given contents.
    if (!module.ok() && !options.input_values.empty()) {
      auto second = import(/*prefers_contents=*/true);
      if (second.ok()) return second;
    }
    if (module.ok()) return module;
    status = module.status();
  }
  return absl::Status(status.code(), absl::StrCat(path, ": ", std::string(status.message())));
}

}  // namespace tg::onnx
