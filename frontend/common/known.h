// The elements of small tensors that are known before a run: an evaluator over extents.
#ifndef TG_FRONTEND_COMMON_KNOWN_H_
#define TG_FRONTEND_COMMON_KNOWN_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ir/module.h"
#include "ir/shape.h"
#include "ir/walk.h"

namespace tg::frontend {

struct KnownElement {
  enum class Kind : uint8_t { kUnknown, kConstant, kSymbol };
  Kind kind = Kind::kUnknown;
  int64_t bits = 0;             // kConstant, in the format of ir/value.h
  const UOp* symbol = nullptr;  // kSymbol: an integer as a node of type index
};

// Evaluates constants with the semantics of the ops (ir/interpret/scalar.h), and integers that
// depend on variables symbolically, like extents. Tensors of more than kMaxElements are unknown, so
// that no walk enters a network's activations. Results are cached: each node is evaluated once.
class KnownValues {
 public:
  static constexpr int64_t kMaxElements = 4096;

  // `given`: contents of inputs, by the buffer's name, that count as known; may be null.
  using Given = std::map<std::string, std::vector<int64_t>, std::less<>>;
  KnownValues(const Module& module, Context& ctx, ShapeMap& shapes, const Given* given = nullptr)
      : module_(module), ctx_(ctx), shapes_(shapes), given_(given) {}

  // The elements, row-major. Null if no element is known.
  const std::vector<KnownElement>* Of(const UOp* u);
  // Gives a tensor elements; none: what its node says. What was found of others is found anew.
  void Set(const UOp* u, std::vector<KnownElement> elements);
  // The variables that the elements depend on through tensors of at most kMaxElements.
  std::set<std::string> VariablesIn(const UOp* u);

 private:
  using Elements = std::vector<KnownElement>;
  bool IsSmall(const UOp* u);
  std::unique_ptr<Elements> Evaluate(const UOp* u);
  std::unique_ptr<Elements> Buffer(const UOp* u);
  std::unique_ptr<Elements> Move(const UOp* u);
  std::unique_ptr<Elements> Reduce(const UOp* u);
  KnownElement Alu(const UOp* u, std::vector<KnownElement>& srcs);
  const UOp* Node(const KnownElement& e, Scalar type);

  const Module& module_;
  Context& ctx_;
  ShapeMap& shapes_;
  const Given* given_;
  NodeMap<std::unique_ptr<Elements>> known_;
  NodeSet done_;
  NodeMap<std::vector<KnownElement>> set_;
};

}  // namespace tg::frontend

#endif  // TG_FRONTEND_COMMON_KNOWN_H_
