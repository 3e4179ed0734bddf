#include "tools/train/optimizer.h"

#include <cmath>
#include <numbers>

#include "base/status.h"
#include "tools/train/spec.h"

namespace tg::train {

using frontend::GraphBuilder;
using frontend::Value;

absl::StatusOr<OptimizerSpec> ParseOptimizer(std::string_view text) {
  OptimizerSpec spec;
  TG_ASSIGN_OR_RETURN(SpecText parts, SpecText::Parse(text));
  constexpr double kAny = 1e30;
  if (parts.kind == "sgd") {
    spec.kind = OptimizerKind::kSgd;
    spec.rate = 1e-2;
    TG_RETURN_IF_ERROR(parts.Take("momentum", 0, 1, &spec.momentum));
    spec.nesterov = parts.TakeWord("nesterov");
  } else if (parts.kind == "adam" || parts.kind == "adamw") {
    spec.kind = parts.kind == "adam" ? OptimizerKind::kAdam : OptimizerKind::kAdamW;
    if (spec.kind == OptimizerKind::kAdamW) spec.decay = 0.01;
    TG_RETURN_IF_ERROR(parts.Take("eps", 0, kAny, &spec.epsilon));
  } else if (parts.kind == "lion") {
    spec.kind = OptimizerKind::kLion;
    spec.rate = 1e-4;
    spec.beta2 = 0.99;
  } else {
    return InvalidArgument("there is no optimizer ", Quote(parts.kind),
                           "; there are sgd, adam, adamw and lion");
  }
  if (spec.kind != OptimizerKind::kSgd) {
    TG_RETURN_IF_ERROR(parts.Take("beta1", 0, 1 - 1e-9, &spec.beta1));
    TG_RETURN_IF_ERROR(parts.Take("beta2", 0, 1 - 1e-9, &spec.beta2));
  }
  TG_RETURN_IF_ERROR(parts.Take("lr", 0, kAny, &spec.rate));
  TG_RETURN_IF_ERROR(parts.Take("decay", 0, kAny, &spec.decay));
  TG_RETURN_IF_ERROR(parts.Take("clip", 1e-30, kAny, &spec.clip));
  spec.decay_matrices_only = parts.TakeWord("matrices");
  TG_RETURN_IF_ERROR(parts.CheckAllTaken());
  if (!parts.words.empty()) {
    return InvalidArgument(parts.kind, " has no option ", Quote(parts.words[0]));
  }
  return spec;
}

absl::StatusOr<RateSchedule> ParseSchedule(std::string_view text) {
  RateSchedule schedule;
  TG_ASSIGN_OR_RETURN(SpecText parts, SpecText::Parse(text));
  if (parts.kind == "linear") {
    schedule.kind = ScheduleKind::kLinear;
  } else if (parts.kind == "cosine") {
    schedule.kind = ScheduleKind::kCosine;
  } else if (parts.kind != "constant") {
    return InvalidArgument("there is no schedule ", Quote(parts.kind),
                           "; there are constant, linear and cosine");
  }
  double warmup = 0;
  TG_RETURN_IF_ERROR(parts.Take("warmup", 0, 1e9, &warmup));
  if (warmup != std::trunc(warmup)) return InvalidArgument("warmup is a number of steps");
  schedule.warmup = static_cast<int64_t>(warmup);
  TG_RETURN_IF_ERROR(parts.CheckAllTaken());
  if (!parts.words.empty()) {
    return InvalidArgument(parts.kind, " has no option ", Quote(parts.words[0]));
  }
  return schedule;
}

namespace {

constexpr char kLossScale[] = "train.scale";

class Updates {
 public:
  Updates(GraphBuilder& g, const OptimizerSpec& spec, const RateSchedule& schedule,
          std::vector<Value>& gradients, Value scale)
      : g_(g), spec_(spec) {
    Scale(gradients, scale);
    step_ = g_.Declare("train.step", {.dtype = kI32, .role = Role::kState});
    const Value next = g_.Add(step_, g_.ConstInt(Scalar::kI32, 1));
    Write(step_, next);
    steps_ = g_.Cast(next, Scalar::kF32);
    // What depends on the number of the step is stored, so that its write waits for no update.
    first_ = g_.Stored(g_.Eq(step_, g_.ConstInt(Scalar::kI32, 0)));
    rate_ = Stored(Rate(schedule));
    // 1 - beta^steps, without the cancellation of the difference.
    const auto unbiased = [&](double beta) {
      return g_.Neg(g_.Expm1(g_.Mul(steps_, Number(std::log(beta)))));
    };
    if (spec_.kind == OptimizerKind::kAdam || spec_.kind == OptimizerKind::kAdamW) {
      first_share_ = spec_.beta1 > 0 ? Stored(unbiased(spec_.beta1)) : Number(1);
      second_share_ = spec_.beta2 > 0 ? Stored(unbiased(spec_.beta2)) : Number(1);
    }
  }

  void Add(const TrainedWeight& trained, Value gradient) {
    Value w = g_.Cast(trained.weight, Scalar::kF32), master = nullptr;
    if (BitWidth(trained.weight->dtype.scalar()) < 32) {
      master = StateLike(trained, ".master");
      w = g_.Where(first_, w, master);
    }
    const bool decays = spec_.decay > 0 && trained.decays &&
                        (!spec_.decay_matrices_only || g_.Rank(trained.weight) > 1);
    Value change = nullptr;
    switch (spec_.kind) {
      case OptimizerKind::kSgd:
        if (decays) gradient = g_.Add(gradient, g_.Mul(w, Number(spec_.decay)));
        change = gradient;
        if (spec_.momentum > 0) {
          const Value old = StateLike(trained, ".momentum");
          const Value momentum = g_.Add(g_.Mul(old, Number(spec_.momentum)), gradient);
          Write(old, momentum);
          change = spec_.nesterov ? g_.Add(gradient, g_.Mul(momentum, Number(spec_.momentum)))
                                  : momentum;
        }
        break;
      case OptimizerKind::kAdam:
        if (decays) gradient = g_.Add(gradient, g_.Mul(w, Number(spec_.decay)));
        change = AdamChange(trained, gradient);
        break;
      case OptimizerKind::kAdamW:
        change = AdamChange(trained, gradient);
        if (decays) change = g_.Add(change, g_.Mul(w, Number(spec_.decay)));
        break;
      case OptimizerKind::kLion: {
        const Value old = StateLike(trained, ".momentum");
        change = g_.Sign(Blend(old, gradient, spec_.beta1));
        Write(old, Blend(old, gradient, spec_.beta2));
        if (decays) change = g_.Add(change, g_.Mul(w, Number(spec_.decay)));
        break;
      }
    }
    const Value next = g_.Sub(w, g_.Mul(change, rate_));
    if (master) Write(master, next);
    Write(trained.weight, g_.Cast(next, trained.weight->dtype.scalar()));
  }

  void Write(Value target, Value value) {
    WriteAlways(target, applies_ ? g_.Where(applies_, value, target) : value);
  }

  std::vector<Value> Take() { return std::move(writes_); }

 private:
  Value Number(double v) { return g_.Const(Scalar::kF32, v); }
  Value Stored(Value v) { return IsConst(v) ? v : g_.Stored(v); }

  // Stores all gradients one after the other in one buffer, and gives those of the buffer instead.
  // So the sum of their squares is one long sum, whose parts are computed together, and not one
  // after the other for each weight.
  Value SumOfSquares(std::vector<Value>& gradients) {
    constexpr int64_t kTerms = 1024;  // of a sum that may be computed together with others
    std::vector<int64_t> begins;
    int64_t size = 0;
    for (const Value gradient : gradients) {
      begins.push_back(size);
      size += NumElements(g_.ShapeOf(gradient));
    }
    const int64_t rows = (size + kTerms - 1) / kTerms;
    const Value buffer =
        g_.Declare("train.gradients",
                   {.dtype = kF32, .shape = {{.size = rows * kTerms}}, .role = Role::kTemp});
    std::vector<Value> writes;
    const auto part = [&](Value of, size_t i) {
      const Shape& shape = g_.ShapeOf(gradients[i]);
      return g_.ir().Reshape(g_.ir().Shrink(of, {{begins[i], begins[i] + NumElements(shape)}}),
                             shape);
    };
    for (size_t i = 0; i < gradients.size(); ++i) {
      writes.push_back(g_.ir().context().Make(Op::kAssign, kF32, {part(buffer, i), gradients[i]}));
    }
    if (size < rows * kTerms) {
      const Value rest = g_.ir().Shrink(buffer, {{size, rows * kTerms}});
      const Value zeros = g_.ir().Expand(g_.ir().Reshape(Number(0), {1}), {rows * kTerms - size});
      writes.push_back(g_.ir().context().Make(Op::kAssign, kF32, {rest, zeros}));
    }
    const Value all = g_.ir().After(buffer, writes);
    for (size_t i = 0; i < gradients.size(); ++i) gradients[i] = part(all, i);
    const Value table = g_.Reshape(all, {rows, kTerms});
    return g_.Sum(g_.Stored(g_.Sum(g_.Mul(table, table), {1})), {0});
  }

  // Takes the factor of the loss out of the gradients, and scales all of them alike if their norm
  // is too great.
  void Scale(std::vector<Value>& gradients, Value loss_scale) {
    const bool clips = std::isfinite(spec_.clip);
    if (!clips && !loss_scale) {
      // Several updates read them.
      for (Value& gradient : gradients) gradient = g_.Stored(gradient);
      return;
    }
    Value factor = loss_scale ? g_.Recip(loss_scale) : Number(1);
    const Value norm = g_.Mul(g_.Sqrt(SumOfSquares(gradients)), factor);
    if (loss_scale) {
      // With the least factor they are what they are: a loss that is not finite will end the run.
      const Value least = g_.Le(loss_scale, Number(1));
      applies_ = g_.Or(least, g_.Lt(norm, Number(HUGE_VAL)));
      WriteScale(loss_scale);
    }
    if (clips) {
      const Value share = g_.Div(Number(spec_.clip), g_.Add(norm, Number(1e-6)));
      factor = g_.Mul(factor, g_.Min(share, Number(1)));
    }
    factor = g_.Stored(factor);
    for (Value& gradient : gradients) gradient = g_.Mul(gradient, factor);
  }

  void WriteScale(Value scale) {
    const Value zero = g_.ConstInt(Scalar::kI32, 0), one = g_.ConstInt(Scalar::kI32, 1);
    const Value steps = g_.Declare("train.scale.steps", {.dtype = kI32, .role = Role::kState});
    const Value next = g_.Add(steps, one);
    const Value grows = g_.Le(g_.ConstInt(Scalar::kI32, kStepsOfScale), next);
    const Value more = g_.Min(g_.Mul(scale, Number(2)), Number(kGreatestScale));
    const Value less = g_.Max(g_.Mul(scale, Number(0.5)), Number(1));
    WriteAlways(steps, g_.Where(g_.And(applies_, g_.Not(grows)), next, zero));
    WriteAlways(g_.ir().Buffer(kLossScale, kF32),
                g_.Where(applies_, g_.Where(grows, more, scale), less));
  }

  void WriteAlways(Value target, Value value) {
    writes_.push_back(value ? g_.ir().context().Make(Op::kAssign, target->dtype, {target, value})
                            : nullptr);
  }

  Value StateLike(const TrainedWeight& trained, std::string_view suffix) {
    BufferDecl decl = *g_.module().FindBuffer(trained.name);
    BufferDecl state{
        .dtype = kF32, .shape = decl.shape, .role = Role::kState, .device = decl.device};
    return g_.Declare(Cat(trained.name, suffix), std::move(state));
  }

  // The moving average: old * beta + x * (1 - beta).
  Value Blend(Value old, Value x, double beta) {
    return g_.Add(g_.Mul(old, Number(beta)), g_.Mul(x, Number(1 - beta)));
  }

  Value AdamChange(const TrainedWeight& trained, Value gradient) {
    const Value old_mean = StateLike(trained, ".momentum");
    const Value old_square = StateLike(trained, ".square");
    const Value mean = Blend(old_mean, gradient, spec_.beta1);
    const Value square = Blend(old_square, g_.Mul(gradient, gradient), spec_.beta2);
    Write(old_mean, mean);
    Write(old_square, square);
    const Value root = g_.Sqrt(g_.Div(square, second_share_));
    return g_.Div(g_.Div(mean, first_share_), g_.Add(root, Number(spec_.epsilon)));
  }

  Value Rate(const RateSchedule& schedule) {
    Value rate = Number(spec_.rate);
    const auto warmup = static_cast<double>(schedule.warmup);
    if (schedule.kind != ScheduleKind::kConstant) {
      // From 0 at the first step after the warmup to 1 after the last step.
      const double rest = std::max<double>(1, static_cast<double>(schedule.total) - warmup);
      const Value done = g_.Sub(g_.Sub(steps_, Number(1)), Number(warmup));
      const Value part = g_.Clip(g_.Mul(done, Number(1 / rest)), Number(0), Number(1));
      Value left = g_.Sub(Number(1), part);
      if (schedule.kind == ScheduleKind::kCosine) {
        const Value wave = g_.Cos(g_.Mul(part, Number(std::numbers::pi)));
        left = g_.Add(g_.Mul(wave, Number(0.5)), Number(0.5));
      }
      rate = g_.Mul(rate, left);
    }
    if (schedule.warmup > 0) {
      rate = g_.Mul(rate, g_.Min(g_.Mul(steps_, Number(1 / warmup)), Number(1)));
    }
    return rate;
  }

  GraphBuilder& g_;
  const OptimizerSpec& spec_;
  Value step_ = nullptr;     // the number of steps before this one
  Value first_ = nullptr;    // whether this is the first step
  Value applies_ = nullptr;  // whether the step changes the weights; null: it does
  Value steps_ = nullptr;    // including this one, as f32[]
  Value rate_ = nullptr;
  // How much of a moving average that began with zeros is of gradients.
  Value first_share_ = nullptr, second_share_ = nullptr;
  std::vector<Value> writes_;
};

}  // namespace

Value MakeLossScale(GraphBuilder& g, double initial) {
  const Value scale = g.Declare(kLossScale, {.dtype = kF32, .role = Role::kState});
  const Value none = g.Eq(scale, g.Const(Scalar::kF32, 0));  // before the first step
  return g.Where(none, g.Const(Scalar::kF32, initial), scale);
}

std::vector<Value> MakeUpdate(GraphBuilder& g, const OptimizerSpec& spec,
                              const RateSchedule& schedule,
                              const std::vector<TrainedWeight>& weights, Value scale,
                              const std::vector<Value>& others) {
  std::vector<Value> gradients;
  for (const TrainedWeight& trained : weights) {
    gradients.push_back(g.Cast(trained.gradient, Scalar::kF32));
  }
  Updates updates(g, spec, schedule, gradients, scale);
  for (size_t i = 0; i < weights.size(); ++i) updates.Add(weights[i], gradients[i]);
  for (const Value write : others) updates.Write(write->src(0), write->src(1));
  return updates.Take();
}

}  // namespace tg::train
