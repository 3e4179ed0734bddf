#include "frontend/gguf/architecture.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "base/status.h"

namespace tg::gguf {
namespace {

constexpr Architecture kArchitectures[] = {
    {.name = "llama", .rope_interleaved = true},
    {.name = "qwen2"},
    {.name = "qwen3", .norms_queries_and_keys = true},
    {.name = "qwen3moe", .norms_queries_and_keys = true},
    {.name = "gemma2",
     .activation = Activation::kGeluTanh,
     .scales_embedding = true,
     .norms_outputs = true,
     .window_period = 2,
     .layers_scaled_by_width = 46},
    {.name = "gemma3",
     .activation = Activation::kGeluTanh,
     .scales_embedding = true,
     .norms_queries_and_keys = true,
     .norms_outputs = true,
     .window_period = 6,
     .window_rope_base = 10000,
     .layers_scaled_by_width = 62},
    {.name = "phi3", .fuses_projections = true},
};

// Bounds of sizes, so that no product of a few of them overflows.
constexpr int64_t kMaxSize = int64_t{1} << 24, kMaxLayers = 1000, kMaxHeads = 1024;

// Reads keys of one architecture, and collects what is wrong with them.
class KeyReader {
 public:
  KeyReader(const Model& model, std::string_view architecture)
      : model_(model), prefix_(std::string(architecture) + ".") {}

  std::string Name(std::string_view key) const { return prefix_ + std::string(key); }

  int64_t Int(std::string_view key, std::optional<int64_t> otherwise, int64_t most = kMaxSize,
              int64_t least = 1) {
    const std::string name = Name(key);
    const int64_t* value = model_.Int(name);
    // Some files give a number for each layer, of which tg reads equal ones.
    const std::vector<int64_t>* list = model_.Ints(name);
    if (list && !list->empty()) {
      value = &list->front();
      if (std::any_of(list->begin(), list->end(), [&](int64_t v) { return v != *value; })) {
        wrong_ += Cat(", '", name, "' differs between layers");
      }
    }
    if (value) {
      if (*value < least || *value > most) wrong_ += Cat(", '", name, "' is ", *value);
      return *value;
    }
    return Otherwise(name, otherwise);
  }

  double Float(std::string_view key, std::optional<double> otherwise) {
    const std::string name = Name(key);
    const double* value = model_.Float(name);
    if (value) {
      if (!(std::isfinite(*value) && *value >= 0)) {
        wrong_ += Cat(", '", name, "' is no number of at least 0");
      }
      return *value;
    }
    return Otherwise(name, otherwise);
  }

  std::string String(std::string_view key) const {
    const std::string_view* value = model_.String(Name(key));
    return value ? std::string(*value) : std::string();
  }

  void Require(bool holds, std::string_view what) {
    if (!holds) wrong_ += Cat(", ", what);
  }

  // Empty: nothing is wrong.
  std::string Problems() const {
    std::string problems;
    if (!missing_.empty()) problems = "the file lacks the keys " + missing_.substr(2);
    if (!wrong_.empty()) problems += (problems.empty() ? "" : "; ") + wrong_.substr(2);
    return problems;
  }

 private:
  template <typename T>
  T Otherwise(const std::string& name, std::optional<T> otherwise) {
    // A value of another type counts as missing.
    if (!otherwise || model_.metadata.contains(name)) missing_ += Cat(", '", name, "'");
    return otherwise.value_or(T(1));
  }

  const Model& model_;
  const std::string prefix_;
  std::string missing_, wrong_;
};

Rope ReadRope(KeyReader& keys, const Hyperparameters& h) {
  Rope rope;
  rope.base = keys.Float("rope.freq_base", 10000.0);
  keys.Require(rope.base > 1, Cat("'", keys.Name("rope.freq_base"), "' is not above 1"));
  rope.dimensions = keys.Int("rope.dimension_count", h.key_size);
  keys.Require(rope.dimensions % 2 == 0 && rope.dimensions <= h.key_size,
               Cat("'", keys.Name("rope.dimension_count"), "' is not even, or above the size ",
                   "of a head"));
  const std::string scaling = keys.String("rope.scaling.type");
  if (scaling == "linear") rope.scaling = RopeScaling::kLinear;
  if (scaling == "yarn") rope.scaling = RopeScaling::kYarn;
  // With these types the file has a factor for each frequency.
  keys.Require(rope.scaling != RopeScaling::kNone || scaling.empty() || scaling == "none" ||
                   scaling == "longrope" || scaling == "llama3",
               Cat("'", keys.Name("rope.scaling.type"), "' is '", scaling, "'"));
  rope.factor = keys.Float("rope.scaling.factor", 1.0);
  if (rope.factor == 0) rope.factor = 1;
  rope.original_context = static_cast<double>(
      keys.Int("rope.scaling.original_context_length", h.context, int64_t{1} << 40));
  rope.attention_factor = keys.Float("rope.scaling.attn_factor", 1.0);
  rope.beta_fast = keys.Float("rope.scaling.yarn_beta_fast", 32.0);
  rope.beta_slow = keys.Float("rope.scaling.yarn_beta_slow", 1.0);
  return rope;
}

}  // namespace

std::span<const Architecture> AllArchitectures() { return kArchitectures; }

absl::StatusOr<Hyperparameters> ReadHyperparameters(const Model& model) {
  const std::string& path = model.paths[0];
  const std::string_view* name = model.String("general.architecture");
  if (!name) return InvalidArgument(path, ": the file lacks the key 'general.architecture'");
  const auto* found = std::find_if(std::begin(kArchitectures), std::end(kArchitectures),
                                   [&](const Architecture& a) { return a.name == *name; });
  if (found == std::end(kArchitectures)) {
    std::string known;
    for (const Architecture& a : kArchitectures) known += Cat(" ", a.name);
    return InvalidArgument(path, ": the architecture '", *name, "' is not read; tg reads", known);
  }
  Hyperparameters h{.architecture = *found};
  KeyReader keys(model, *name);
  h.layers = keys.Int("block_count", std::nullopt, kMaxLayers);
  h.width = keys.Int("embedding_length", std::nullopt);
  h.context = keys.Int("context_length", std::nullopt);
  h.heads = keys.Int("attention.head_count", std::nullopt, kMaxHeads);
  h.kv_heads = keys.Int("attention.head_count_kv", h.heads, kMaxHeads);
  keys.Require(h.heads % std::max<int64_t>(h.kv_heads, 1) == 0,
               Cat(h.heads, " heads are no multiple of ", h.kv_heads, " heads of keys"));
  const int64_t size = h.width / std::max<int64_t>(h.heads, 1);
  h.key_size = keys.Int("attention.key_length", size);
  h.value_size = keys.Int("attention.value_length", size);
  h.epsilon = keys.Float("attention.layer_norm_rms_epsilon", std::nullopt);
  h.experts = keys.Int("expert_count", 0, kMaxHeads, 0);
  const bool is_dense = h.experts == 0 && found->name != "qwen3moe";
  h.feed_forward =
      keys.Int("feed_forward_length", is_dense ? std::nullopt : std::optional<int64_t>(0));
  if (!is_dense) {
    h.experts = keys.Int("expert_count", std::nullopt, kMaxHeads);
    h.experts_used = keys.Int("expert_used_count", std::nullopt, h.experts);
    h.expert_feed_forward = keys.Int("expert_feed_forward_length", h.feed_forward);
  }
  h.window = keys.Int("attention.sliding_window", 0, int64_t{1} << 40, 0);
  h.score_cap = keys.Float("attn_logit_softcapping", 0.0);
  h.logit_cap = keys.Float("final_logit_softcapping", 0.0);
  h.rope = ReadRope(keys, h);
  h.window_rope = h.rope;
  if (found->window_rope_base > 0) {
    h.window_rope = Rope{.base = keys.Float("rope.freq_base_swa", found->window_rope_base),
                         .dimensions = h.rope.dimensions};
  }
  const bool by_width = h.layers == found->layers_scaled_by_width;
  h.query_scale = keys.Float("attention.scale",
                             1 / std::sqrt(static_cast<double>(by_width ? size : h.key_size)));
  if (h.query_scale == 0) h.query_scale = 1 / std::sqrt(static_cast<double>(h.key_size));
  // 4 is for models that compare two texts, which have another layer at the end.
  h.pooling = static_cast<Pooling>(keys.Int("pooling_type", 0, 3, 0));
  if (const Tensor* embedding = model.FindTensor("token_embd.weight")) {
    h.vocabulary = embedding->shape.empty() ? 0 : embedding->shape[0];
  }
  if (const std::string problems = keys.Problems(); !problems.empty()) {
    return InvalidArgument(path, ": architecture '", *name, "': ", problems);
  }
  return h;
}

RopeFrequencies FrequenciesOf(const Rope& rope, std::span<const double> factors) {
  RopeFrequencies result;
  const auto dimensions = static_cast<double>(rope.dimensions);
  // The number of the pair that turns this often within the original context.
  const auto pair_of = [&](double turns) {
    return dimensions * std::log(rope.original_context / (turns * 2 * std::numbers::pi)) /
           (2 * std::log(rope.base));
  };
  const double low = std::max(0.0, std::floor(pair_of(rope.beta_fast)));
  const double high = std::min(dimensions - 1, std::ceil(pair_of(rope.beta_slow)));
  for (int64_t i = 0; i < rope.dimensions / 2; ++i) {
    const auto at = static_cast<double>(i);
    double radians = std::pow(rope.base, -2 * at / dimensions);
    if (!factors.empty()) radians /= factors[static_cast<size_t>(i)];
    const double scaled = radians / rope.factor;
    if (rope.scaling == RopeScaling::kLinear) radians = scaled;
    if (rope.scaling == RopeScaling::kYarn) {
      const double ramp = std::clamp((at - low) / std::max(0.001, high - low), 0.0, 1.0);
      radians = scaled * ramp + radians * (1 - ramp);
    }
    result.radians.push_back(radians);
  }
  result.magnitude = rope.attention_factor;
  if (rope.scaling == RopeScaling::kYarn) result.magnitude *= 1 + 0.1 * std::log(rope.factor);
  return result;
}

}  // namespace tg::gguf
