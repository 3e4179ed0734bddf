// The properties in which decoders of text models differ, as data: the architecture by its name,
// and the sizes from a file's metadata.
#ifndef TG_FRONTEND_GGUF_ARCHITECTURE_H_
#define TG_FRONTEND_GGUF_ARCHITECTURE_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "frontend/gguf/gguf.h"

namespace tg::gguf {

enum class Activation : uint8_t { kSilu, kGeluTanh };

struct Architecture {
  std::string_view name;
  // Rotary embedding rotates elements 2i and 2i + 1; otherwise i and i + half.
  bool rope_interleaved = false;
  Activation activation = Activation::kSilu;
  bool scales_embedding = false;  // by the square root of its width
  bool norms_queries_and_keys = false;
  bool norms_outputs = false;      // of attention and feed-forward, before they are added
  bool fuses_projections = false;  // one tensor for queries, keys, values; one for gate and up
  // In each group of this many consecutive layers, all but the last attend to a window only. 0:
  // every layer does, if the file has a window.
  int64_t window_period = 0;
  double window_rope_base = 0;  // base of the rotary embedding of these layers; 0: as of others
  // The number of layers of the model whose queries are scaled by embedding width and head count
  // instead of the heads' size.
  int64_t layers_scaled_by_width = 0;
};

std::span<const Architecture> AllArchitectures();

// What a file says of the state that represents a text. The numbers are those of the files.
enum class Pooling : uint8_t { kNone = 0, kMean = 1, kFirst = 2, kLast = 3 };

enum class RopeScaling : uint8_t { kNone, kLinear, kYarn };

struct Rope {
  double base = 10000;
  RopeScaling scaling = RopeScaling::kNone;
  double factor = 1;
  double original_context = 0;
  double attention_factor = 1;
  double beta_fast = 32, beta_slow = 1;
  int64_t dimensions = 0;  // of a head, that are rotated
};

struct Hyperparameters {
  Architecture architecture;
  int64_t layers = 0, width = 0, context = 0, vocabulary = 0;
  int64_t feed_forward = 0;  // 0: the layers have experts alone
  int64_t heads = 0, kv_heads = 0, key_size = 0, value_size = 0;
  double epsilon = 0;
  double query_scale = 0;
  double score_cap = 0, logit_cap = 0;  // 0: none
  int64_t window = 0;                   // keys that a windowed layer sees; 0: all
  int64_t experts = 0, experts_used = 0, expert_feed_forward = 0;
  Rope rope, window_rope;
  Pooling pooling = Pooling::kNone;

  bool HasWindow(int64_t layer) const {
    const int64_t period = architecture.window_period;
    return window > 0 && (period == 0 || layer % period != period - 1);
  }
};

// Errors are InvalidArgument with one line: an unknown architecture (with the known ones); all keys
// that the file lacks; or sizes that contradict each other.
absl::StatusOr<Hyperparameters> ReadHyperparameters(const Model& model);

// For each pair of rotated elements of a head, the angle per position in radians, with the scaling
// of `rope` applied and divided by `factors` (empty: 1). Also the factor by which queries and keys
// are scaled.
struct RopeFrequencies {
  std::vector<double> radians;
  double magnitude = 1;
};
RopeFrequencies FrequenciesOf(const Rope& rope, std::span<const double> factors);

}  // namespace tg::gguf

#endif  // TG_FRONTEND_GGUF_ARCHITECTURE_H_
