// Reads ShapeTrackers in arguments.
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

  // Whether the view covers all elements of flat memory of its size, in order.
  bool IsContiguous() const;
};

// Reads a number, or a UOp as a symbolic extent.
using DimReader = std::function<std::optional<Dim>(const Value&)>;

// Reads the views of a ShapeTracker(...), the outermost last. Returns nullopt for any other
// argument.
std::optional<std::vector<View>> ReadViews(const Value& tracker, const DimReader& dim);

// The shape of a tracker that only reshapes, if all extents are numbers.
std::optional<std::vector<int64_t>> ContiguousShape(const Value& tracker);

// The words of a `view` op's attribute, and its symbolic entries in order (see Attr in ir/uop.h).
void EncodeViews(const std::vector<View>& views, std::vector<int64_t>* words,
                 std::vector<const UOp*>* symbols);

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_VIEWS_H_
