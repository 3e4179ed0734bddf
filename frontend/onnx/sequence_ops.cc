// Sequences and optionals: lists of tensors that are resolved at import.
#include <algorithm>
#include <memory>

#include "absl/strings/str_cat.h"
#include "frontend/onnx/operators.h"

namespace tg::onnx {
namespace {

using List = std::vector<Tensor>;

void ReturnList(NodeContext& c, List list, size_t i = 0) {
  c.Return(Tensor{nullptr, ElementType::kUndefined, std::make_shared<List>(std::move(list))}, i);
}

// The sequence of input i; null, and an error, where it is none.
const List* SequenceIn(NodeContext& c, size_t i) {
  if (c.Has(i) && c.Input(i).sequence) return c.Input(i).sequence.get();
  c.Fail(absl::StrCat("input ", i, " is no sequence"));
  return nullptr;
}

// The position in input i, counted from 0; `otherwise` if the input is left out. Records an error
// and returns nullopt if it is not below `end`.
std::optional<size_t> Position(NodeContext& c, size_t i, size_t length, size_t end,
                               size_t otherwise) {
  if (!c.Has(i)) return otherwise;
  const auto known = c.KnownInt(i);
  if (!known) return std::nullopt;
  const int64_t position = *known < 0 ? *known + static_cast<int64_t>(length) : *known;
  if (position >= 0 && position < static_cast<int64_t>(end)) return static_cast<size_t>(position);
  c.Fail(absl::StrCat("position ", *known, " in a sequence of ", length, " tensors"));
  return std::nullopt;
}

void SequenceConstruct(NodeContext& c) {
  List list;
  for (size_t i = 0; i < c.num_inputs(); ++i) list.push_back(c.Input(i));
  ReturnList(c, std::move(list));
}
void SequenceEmpty(NodeContext& c) { ReturnList(c, {}); }

void SequenceAt(NodeContext& c) {
  const List* list = SequenceIn(c, 0);
  if (!list) return;
  const auto at = Position(c, 1, list->size(), list->size(), 0);
  if (at) c.Return((*list)[*at], 0);
}
void SequenceInsert(NodeContext& c) {
  const List* list = SequenceIn(c, 0);
  if (!list || !c.In(1)) return;
  const auto at = Position(c, 2, list->size(), list->size() + 1, list->size());
  if (!at) return;
  List longer = *list;
  longer.insert(longer.begin() + static_cast<ptrdiff_t>(*at), c.Input(1));
  ReturnList(c, std::move(longer));
}
void SequenceErase(NodeContext& c) {
  const List* list = SequenceIn(c, 0);
  if (!list) return;
  if (list->empty()) {
    c.Fail("an element of an empty sequence");
    return;
  }
  const auto at = Position(c, 1, list->size(), list->size(), list->size() - 1);
  if (!at) return;
  List shorter = *list;
  shorter.erase(shorter.begin() + static_cast<ptrdiff_t>(*at));
  ReturnList(c, std::move(shorter));
}
void SequenceLength(NodeContext& c) {
  const List* list = SequenceIn(c, 0);
  if (list) c.Return(c.g.ConstInt(Scalar::kI64, static_cast<int64_t>(list->size())));
}

// Each tensor of a sequence is a node.
bool AreFew(NodeContext& c, int64_t parts) {
  if (parts <= kMaxUnrolledIterations) return true;
  c.Fail(absl::StrCat("a split into ", parts, " tensors, more than ", kMaxUnrolledIterations));
  return false;
}

void SplitToSequence(NodeContext& c) {
  const Value x = c.In(0);
  if (!x) return;
  const auto axis = c.g.Axis(c.Int("axis", 0), c.g.Rank(x));
  if (!axis) return;
  const Dim extent = c.g.Extent(x, *axis);
  if (extent.is_symbolic()) {
    c.Fail("a split of a symbolic extent");
    return;
  }
  // One length for all parts but the last, or the length of each part.
  Ints lengths;
  bool keeps = true;
  if (c.Has(1)) {
    const auto known = c.KnownInts(1);
    if (!known) return;
    lengths = *known;
    if (c.g.Rank(c.In(1)) == 0) {
      const int64_t length = lengths[0];
      lengths.clear();
      if (length > 0 && !AreFew(c, (extent.value() - 1) / length + 1)) return;
      for (int64_t left = extent.value(); length > 0 && left > 0; left -= length) {
        lengths.push_back(std::min(length, left));
      }
    }
  } else {
    keeps = c.Int("keepdims", 1) != 0;
    if (!AreFew(c, extent.value())) return;
    lengths.assign(static_cast<size_t>(extent.value()), 1);
  }
  List list;
  int64_t start = 0;
  for (const int64_t length : lengths) {
    if (length < 0 || length > extent.value() - start) break;
    Value part = c.g.Slice(x, *axis, start, start + length);
    if (!keeps) part = c.g.Squeeze(part, *axis);
    list.push_back({part, c.TypeOf(0), nullptr});
    start += length;
  }
  if (start != extent.value() || list.size() != lengths.size()) {
    c.Fail(absl::StrCat("parts that do not sum to the extent, ", extent.value()));
    return;
  }
  ReturnList(c, std::move(list));
}
void ConcatFromSequence(NodeContext& c) {
  const List* list = SequenceIn(c, 0);
  if (!list) return;
  if (list->empty()) {
    c.Fail("an empty sequence");
    return;
  }
  std::vector<Value> values;
  for (const Tensor& t : *list) values.push_back(t.value);
  const int64_t axis = c.Int("axis", 0);
  c.Return(c.Int("new_axis", 0) ? c.g.Stack(values, axis) : c.g.Concat(values, axis), 0,
           (*list)[0].type);
}

// Applies the body to each element of the first sequence. The other inputs are sequences of the
// same length, or tensors that are passed to each call.
void SequenceMap(NodeContext& c) {
  const List* first = SequenceIn(c, 0);
  if (!first) return;
  std::vector<List> results(c.node.outputs.size());
  for (size_t k = 0; k < first->size(); ++k) {
    std::vector<Tensor> inputs;
    for (size_t i = 0; i < c.num_inputs(); ++i) {
      const Tensor& t = c.Input(i);
      if (t.sequence && t.sequence->size() != first->size()) {
        c.Fail("sequences of different lengths");
        return;
      }
      inputs.push_back(t.sequence ? (*t.sequence)[k] : t);
    }
    const std::vector<Tensor> of_element = c.RunSubgraph("body", inputs);
    if (of_element.size() < results.size()) {
      if (c.g.ok()) c.Fail("a body of fewer results than the node has");
      return;
    }
    for (size_t i = 0; i < results.size(); ++i) results[i].push_back(of_element[i]);
  }
  for (size_t i = 0; i < results.size(); ++i) ReturnList(c, std::move(results[i]), i);
}

// An optional with a value is represented by that value, an empty one by a missing value.
void Optional(NodeContext& c) { c.Return(c.Input(0), 0); }
void OptionalHasElement(NodeContext& c) { c.Return(c.g.ir().Bool(c.Has(0))); }
void OptionalGetElement(NodeContext& c) {
  if (c.Has(0)) return c.Return(c.Input(0), 0);
  c.Fail("the element of an empty optional");
}

constexpr Operator kSequenceOperators[] = {
    {"", "ConcatFromSequence", 11, ConcatFromSequence},
    {"", "Optional", 15, Optional},
    {"", "OptionalGetElement", 15, OptionalGetElement},
    {"", "OptionalHasElement", 15, OptionalHasElement},
    {"", "SequenceAt", 11, SequenceAt},
    {"", "SequenceConstruct", 11, SequenceConstruct},
    {"", "SequenceEmpty", 11, SequenceEmpty},
    {"", "SequenceErase", 11, SequenceErase},
    {"", "SequenceInsert", 11, SequenceInsert},
    {"", "SequenceLength", 11, SequenceLength},
    {"", "SequenceMap", 17, SequenceMap},
    {"", "SplitToSequence", 11, SplitToSequence},
};

}  // namespace

std::span<const Operator> SequenceOperators() { return kSequenceOperators; }

}  // namespace tg::onnx
