// The weights that the graphs of a module share. Each tensor of the file is declared when a graph
// first requests it.
#ifndef TG_FRONTEND_GGUF_WEIGHT_STORE_H_
#define TG_FRONTEND_GGUF_WEIGHT_STORE_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "frontend/gguf/gguf.h"
#include "frontend/gguf/weights.h"
#include "ir/module.h"

namespace tg::gguf {

class WeightStore {
 public:
  WeightStore(const Model& model, Module& module) : model_(model), module_(module) {}

  bool Has(const std::string& name) const { return model_.FindTensor(name) != nullptr; }
  // A tensor of this shape. Null, and an error, if the file lacks it or has another shape.
  const Weight* Get(const std::string& name, const Ints& shape);
  // The numbers of a tensor of `count` numbers in F32. Empty, and an error, as above.
  std::vector<double> Numbers(const std::string& name, int64_t count);

  // Returns an error that lists all tensors that are missing or have other shapes; or, if there are
  // none, the tensors that no graph requested, except those named in `spare`.
  absl::Status Check(const std::vector<std::string>& spare) const;

  // The bytes of a tensor.
  int64_t BytesOf(const std::string& name) const;
  int64_t BytesUsed() const;

 private:
  const Tensor* Find(const std::string& name, const Ints& shape);

  const Model& model_;
  Module& module_;
  std::map<std::string, Weight> weights_;
  std::map<std::string, bool> used_;
  std::string missing_, wrong_;
};

}  // namespace tg::gguf

#endif  // TG_FRONTEND_GGUF_WEIGHT_STORE_H_
