#include "tools/train/step.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/status.h"
#include "frontend/common/graph_builder.h"
#include "ir/walk.h"
#include "passes/gradient/recompute.h"
#include "passes/gradient/reverse_mode.h"
#include "passes/gradient/sink.h"

namespace tg::train {

using frontend::GraphBuilder;
using frontend::Value;
using gradient::SinkRoot;

namespace {

// What a body computes of the loss: sums over the samples.
struct LossSums {
  Value loss = nullptr, accuracy = nullptr, count = nullptr;
};

class StepBuilder {
 public:
  StepBuilder(std::unique_ptr<Module> model, const StepSpec& spec) : spec_(spec), loss_(spec.loss) {
    result_.module = std::move(model);
  }

  absl::Status Build() {
    TG_RETURN_IF_ERROR(FindModel());
    TG_RETURN_IF_ERROR(Declare());
    auto eval = std::make_unique<Graph>();
    eval->name = kEvalGraph;
    CloneBody(graph_->body, eval->body);
    if (spec_.training_form) TG_RETURN_IF_ERROR(TakeTrainingForm(*spec_.training_form));
    graph_->name = kTrainGraph;
    if (spec_.adapters.rank > 0) {
      TG_ASSIGN_OR_RETURN(result_.adapters,
                          AddAdapters(module(), graph_->body, spec_.adapters, spec_.is_trained));
      TG_RETURN_IF_ERROR(ApplyAdapters(module(), eval->body, result_.adapters));
    }
    TG_RETURN_IF_ERROR(FillTraining(eval->body));
    TG_RETURN_IF_ERROR(FillEvaluation(eval->body));
    module().graphs.push_back(std::move(eval));
    NoteInputs();
    return absl::OkStatus();
  }

  TrainingModule Take() { return std::move(result_); }

 private:
  Module& module() { return *result_.module; }

  absl::Status FindModel() {
    const BufferDecl* output = module().FindBuffer(loss_.output);
    if (!output || output->role != Role::kOutput) {
      std::string names;
      for (const BufferDecl& b : module().buffers) {
        if (b.role == Role::kOutput) names += Cat(names.empty() ? "" : ", ", b.name);
      }
      return InvalidArgument("--loss: the model has no output ", Quote(loss_.output),
                             "; its outputs: ", names);
    }
    graph_ = gradient::FindWritten(module(), loss_.output).graph;
    if (!graph_) return InvalidArgument("--loss: no graph computes ", Quote(loss_.output));
    const bool has_classes = loss_.kind == LossKind::kCrossEntropy;
    if (!output->dtype.is_float() || output->shape.size() < (has_classes ? 2 : 1)) {
      return InvalidArgument("--loss: output ", Quote(loss_.output), " has no floats [batch",
                             has_classes ? ", classes]" : ", ...]");
    }
    for (const DeclDim& d : output->shape) {
      if (d.is_symbolic()) {
        return InvalidArgument("the model has open sizes, such as ", d.Text(),
                               "; give them by --var, and the batch by --batch");
      }
    }
    result_.batch = output->shape[0].size;
    if (has_classes) result_.classes = output->shape.back().size;
    return absl::OkStatus();
  }

  absl::Status Declare() {
    const BufferDecl& output = *module().FindBuffer(loss_.output);
    Shape shape;
    for (const DeclDim& d : output.shape) shape.push_back(d.size);
    const TargetType target = TargetOf(loss_.kind, shape);
    BufferDecl decl{.name = loss_.target, .dtype = target.scalar, .role = Role::kInput};
    for (const Dim& d : target.shape) decl.shape.push_back({.size = d.value()});
    if (module().FindBuffer(loss_.target) || module().FindVar(loss_.target)) {
      return InvalidArgument("--loss: the model itself has ", Quote(loss_.target),
                             "; the target needs another name");
    }
    std::vector<BufferDecl> added = {decl};
    added.push_back({.name = kSampleWeights,
                     .dtype = kF32,
                     .shape = {{.size = result_.batch}},
                     .role = Role::kInput});
    added.push_back({.name = kLossSum, .dtype = kF32, .role = Role::kOutput});
    if (loss_.kind == LossKind::kCrossEntropy) {
      result_.has_accuracy = true;
      added.push_back({.name = kAccuracySum, .dtype = kF32, .role = Role::kOutput});
    }
    for (BufferDecl& b : added) {
      if (module().FindBuffer(b.name)) {
        return InvalidArgument("the model itself has ", Quote(b.name));
      }
      module().buffers.push_back(std::move(b));
    }
    return absl::OkStatus();
  }

  absl::Status TakeTrainingForm(const Module& form) {
    for (const BufferDecl& b : form.buffers) {
      const auto known =
          std::find_if(module().buffers.begin(), module().buffers.end(),
                       [&](const BufferDecl& other) { return other.name == b.name; });
      if (known == module().buffers.end()) {
        module().buffers.push_back(b);
        continue;
      }
      const bool is_same = known->dtype == b.dtype && known->shape == b.shape &&
                           known->file == b.file && known->tensor == b.tensor &&
                           known->offset == b.offset && known->values == b.values;
      if (!is_same) {
        return InvalidArgument(
            b.name == kSampleWeights
                ? Cat("axis 0 of a BatchNormalization is not the batch of ", loss_.output)
                : Cat(Quote(b.name), " differs in training from that of a run"));
      }
      known->role = b.role;
    }
    graph_->body = Body();
    CloneBody(form.FindGraph(graph_->name)->body, graph_->body);
    return absl::OkStatus();
  }

  // The states that a step changes by assigns of the model, which are taken out of the roots.
  std::vector<Value> TakeModelWrites(const Body& eval, std::vector<SinkRoot>& roots) {
    std::set<std::string> evaluated;
    for (const UOp* u : eval.Order()) {
      if (u->op == Op::kBuffer) evaluated.insert(NameOf(eval, u));
    }
    std::vector<Value> writes;
    std::erase_if(roots, [&](const SinkRoot& root) {
      const UOp* write = root.value;
      const bool is_write =
          root.target.empty() && write->op == Op::kAssign && write->src(0)->op == Op::kBuffer;
      if (!is_write) return false;
      const std::string name = NameOf(graph_->body, write->src(0));
      const BufferDecl& decl = *module().FindBuffer(name);
      writes.push_back(write);
      if (decl.file.empty() && !decl.values) {
        result_.accumulators.push_back(name);
      } else if (evaluated.count(name)) {
        result_.statistics.push_back(name);
      }
      return true;
    });
    return writes;
  }

  static std::string NameOf(const Body& body, const UOp* buffer) {
    return std::string(body.context->String(static_cast<StringId>(buffer->word())));
  }

  // Reduces the losses of the samples. The roots of the model that write outputs are dropped.
  absl::StatusOr<LossSums> AddLoss(GraphBuilder& g, Body& body, std::vector<SinkRoot>& roots) {
    Value output = nullptr;
    for (SinkRoot& root : gradient::RootsOf(body)) {
      if (root.target == loss_.output) output = root.value;
      const BufferDecl* target = root.target.empty() ? nullptr : module().FindBuffer(root.target);
      if (!target || target->role != Role::kOutput) roots.push_back(std::move(root));
    }
    const BufferDecl& target = *module().FindBuffer(loss_.target);
    const Value weights = g.ir().Buffer(kSampleWeights, kF32);
    const SampleLoss sample = MakeLoss(g, loss_, output, g.ir().Buffer(loss_.target, target.dtype));
    const Scalar type = sample.loss ? sample.loss->dtype.scalar() : Scalar::kF32;
    LossSums sums;
    sums.loss = g.Sum(g.Mul(sample.loss, g.Cast(weights, type)), {0});
    sums.count = g.Cast(g.Sum(weights, {0}), type);
    if (sample.accuracy) sums.accuracy = g.Sum(g.Mul(sample.accuracy, weights), {0});
    if (!g.ok()) return InvalidArgument("--loss: ", g.error());
    roots.push_back({g.Cast(sums.loss, Scalar::kF32), kLossSum});
    if (sums.accuracy) roots.push_back({sums.accuracy, kAccuracySum});
    return sums;
  }

  bool IsTrained(const BufferDecl& b) const {
    if (result_.adapters.empty()) return spec_.is_trained(b);
    return std::any_of(result_.adapters.begin(), result_.adapters.end(),
                       [&](const Adapter& a) { return a.left == b.name || a.right == b.name; });
  }

  // Null: the loss has no factor.
  Value LossScale(GraphBuilder& g, const std::vector<TrainedWeight>& trained) {
    const bool has_halves = std::any_of(trained.begin(), trained.end(), [](const auto& t) {
      return t.weight->dtype.scalar() == Scalar::kF16;
    });
    const double initial = spec_.loss_scale.value_or(has_halves ? 0x1p16 : 0);
    return spec_.only_gradients || initial == 0 ? nullptr : MakeLossScale(g, initial);
  }

  absl::Status FillTraining(const Body& eval) {
    Body& body = graph_->body;
    GraphBuilder g(module(), body);
    std::vector<SinkRoot> roots;
    TG_ASSIGN_OR_RETURN(const LossSums sums, AddLoss(g, body, roots));
    std::vector<TrainedWeight> trained;
    std::vector<Value> variables;
    for (const BufferDecl& b : module().buffers) {
      if (b.role != Role::kParam || !b.dtype.is_float() || !IsTrained(b)) continue;
      trained.push_back({.name = b.name,
                         .weight = g.ir().Buffer(b.name, b.dtype),
                         .decays = !spec_.decays || spec_.decays(b)});
      variables.push_back(trained.back().weight);
    }
    const Value mean = g.Div(sums.loss, sums.count);
    const size_t declared = module().buffers.size();
    const Value scale = LossScale(g, trained);
    const Value loss = scale ? g.Mul(mean, g.Cast(scale, mean->dtype.scalar())) : mean;
    std::vector<Value> computed = {loss};
    for (const SinkRoot& root : roots) computed.push_back(root.value);
    const std::vector<Value> checkpoints =
        gradient::KeepCheckpoints(module(), body, computed, variables, spec_.checkpoints.segments,
                                  spec_.checkpoints.retained);
    result_.checkpoints = checkpoints.size();
    for (size_t i = 0; i < roots.size(); ++i) roots[i].value = computed[i + 1];
    TG_ASSIGN_OR_RETURN(const std::vector<const UOp*> gradients,
                        gradient::Gradients(module(), body, computed[0], variables, checkpoints));
    std::vector<TrainedWeight> reached;
    for (size_t i = 0; i < trained.size(); ++i) {
      if (!gradients[i]) continue;
      trained[i].gradient = gradients[i];
      result_.weights.push_back(trained[i].name);
      reached.push_back(trained[i]);
    }
    if (reached.empty()) return InvalidArgument("the loss depends on no weight that is trained");
    for (BufferDecl& b : module().buffers) {
      if (std::find(result_.weights.begin(), result_.weights.end(), b.name) !=
          result_.weights.end()) {
        b.role = Role::kState;
      }
    }
    const std::vector<Value> model_writes = TakeModelWrites(eval, roots);
    if (spec_.only_gradients) {
      for (const Value write : model_writes) roots.push_back({write, ""});
      SinkGradients(g, reached, roots);
    } else {
      // Kernels run in the order of what needs them: a gradient is there before those of the
      // weights that the model reads earlier, so that what it is made of need not wait for these.
      std::stable_sort(reached.begin(), reached.end(),
                       [](const TrainedWeight& a, const TrainedWeight& b) {
                         return a.gradient->id < b.gradient->id;
                       });
      for (const Value write :
           MakeUpdate(g, spec_.optimizer, spec_.schedule, reached, scale, model_writes)) {
        roots.push_back({write, ""});
      }
    }
    if (!g.ok()) return absl::InternalError(g.error());
    for (size_t i = declared; i < module().buffers.size(); ++i) {
      if (module().buffers[i].role == Role::kState) {
        result_.accumulators.push_back(module().buffers[i].name);
      }
    }
    gradient::SetRoots(body, roots);
    Compact(body);
    return absl::OkStatus();
  }

  void SinkGradients(GraphBuilder& g, const std::vector<TrainedWeight>& weights,
                     std::vector<SinkRoot>& roots) {
    for (const TrainedWeight& trained : weights) {
      BufferDecl decl = *module().FindBuffer(trained.name);
      const std::string name = gradient::FreeSymbol(module(), trained.name + ".grad");
      g.Declare(
          name,
          {.dtype = decl.dtype, .shape = decl.shape, .role = Role::kOutput, .device = decl.device});
      result_.gradients.push_back(name);
      roots.push_back({trained.gradient, name});
    }
  }

  absl::Status FillEvaluation(Body& body) {
    GraphBuilder g(module(), body);
    std::vector<SinkRoot> roots;
    TG_RETURN_IF_ERROR(AddLoss(g, body, roots).status());
    // An evaluation changes no state.
    std::erase_if(roots, [](const SinkRoot& root) { return root.target.empty(); });
    gradient::SetRoots(body, roots);
    Compact(body);
    return absl::OkStatus();
  }

  // The inputs that the step reads.
  void NoteInputs() {
    std::set<std::string> read;
    for (const UOp* u : graph_->body.Order()) {
      if (u->op == Op::kBuffer) read.insert(NameOf(graph_->body, u));
    }
    for (const BufferDecl& b : module().buffers) {
      const bool is_data = b.name != loss_.target && b.name != kSampleWeights;
      if (b.role == Role::kInput && is_data && read.count(b.name)) result_.inputs.push_back(b.name);
    }
  }

  const StepSpec& spec_;
  const LossSpec& loss_;
  TrainingModule result_;
  Graph* graph_ = nullptr;
};

}  // namespace

absl::StatusOr<TrainingModule> MakeTrainingModule(std::unique_ptr<Module> model,
                                                  const StepSpec& spec) {
  StepBuilder builder(std::move(model), spec);
  TG_RETURN_IF_ERROR(builder.Build());
  return builder.Take();
}

}  // namespace tg::train
