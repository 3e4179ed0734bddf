// ShapeTrackers in arguments.
#ifndef TG_FRONTEND_TINYGRAD_VIEWS_H_
#define TG_FRONTEND_TINYGRAD_VIEWS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "frontend/tinygrad/syntax.h"
#include "ir/dim.h"

namespace tg::tinygrad {

struct View {
  Shape shape;
  std::vector<Dim> strides;
  Dim offset;
  std::vector<std::pair<Dim, Dim>> mask;  // empty: none
  bool has_mask = false;

  // Every element of flat memory of its size, in its order.
  bool IsContiguous() const;
};

// A number, or what `symbol` makes of a UOp.
using DimReader = std::function<std::optional<Dim>(const Value&)>;

// The views of ShapeTracker(...), the last one the outermost; nullopt where the argument is none.
std::optional<std::vector<View>> ReadViews(const Value& tracker, const DimReader& dim);

// The shape of a tracker that only reshapes, all numbers.
std::optional<std::vector<int64_t>> ContiguousShape(const Value& tracker);

// The words of a `view` op's attribute, and its symbolic entries in order (see Attr in ir/uop.h).
void EncodeViews(const std::vector<View>& views, std::vector<int64_t>* words,
                 std::vector<const UOp*>* symbols);

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_VIEWS_H_
