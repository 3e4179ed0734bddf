// Low-rank adapters (LoRA): a weight W of a product is read as W + s * left * right. Only the two
// thin matrices are trained.
#ifndef TG_TOOLS_TRAIN_ADAPTERS_H_
#define TG_TOOLS_TRAIN_ADAPTERS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ir/module.h"

namespace tg::train {

struct AdapterSpec {
  int64_t rank = 0;  // 0: none
  double alpha = 0;  // s is alpha / rank
};
// "rank:8", "rank:8:alpha=16".
absl::StatusOr<AdapterSpec> ParseAdapters(std::string_view text);

struct Adapter {
  std::string weight;       // a param
  std::string left, right;  // params without contents, f32[rows, rank] and f32[rank, columns]
  double scale = 1;
};

// Gives an adapter to each weight that `is_adapted` accepts and that is a factor of a sum of
// products, taken as a matrix of its first axis and all others, if both exceed the rank.
// InvalidArgument if there is none.
absl::StatusOr<std::vector<Adapter>> AddAdapters(
    Module& module, Body& body, const AdapterSpec& spec,
    const std::function<bool(const BufferDecl&)>& is_adapted);
// Makes another graph of the module read the weights with what these adapters add.
absl::Status ApplyAdapters(Module& module, Body& body, const std::vector<Adapter>& adapters);

}  // namespace tg::train

#endif  // TG_TOOLS_TRAIN_ADAPTERS_H_
