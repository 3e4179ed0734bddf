#include "ir/testing/contractions.h"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "ir/builder.h"
#include "ir/testing/random_values.h"
#include "ir/testing/rng.h"

namespace tg::testing {
namespace {

class Maker {
 public:
  explicit Maker(uint64_t seed)
      : rng_(seed), module_(*(out_.module = std::make_unique<Module>())), b_([&]() -> Context& {
          module_.graphs.push_back(std::make_unique<Graph>());
          module_.graphs[0]->name = "main";
          return *module_.graphs[0]->body.context;
        }()) {
    module_.name = "c" + std::to_string(seed);
    scalar_ = rng_.Pick(
        {Scalar::kF32, Scalar::kF32, Scalar::kF32, Scalar::kF32, Scalar::kI32, Scalar::kF64});
    narrow_ =
        scalar_ == Scalar::kF32 ? rng_.Pick({Scalar::kF32, Scalar::kF32, Scalar::kF16}) : scalar_;
  }

  RandomProgram Run() {
    // Batch, rows and lanes; sizes that are multiples of vectors, and others.
    if (rng_.Percent(30)) AddAxis(Along::kBatch, rng_.In(1, 3));
    if (rng_.Percent(30)) AddAxis(Along::kRow, rng_.In(1, 4));
    AddAxis(Along::kRow, rng_.Pick({1, 3, 8, 13, 16, 21}));
    if (rng_.Percent(30)) AddAxis(Along::kLane, rng_.In(1, 4));
    AddAxis(Along::kLane, rng_.Pick({2, 7, 16, 24, 33}));
    const size_t count = rng_.Pick({1u, 1u, 1u, 2u, 3u});
    std::vector<const UOp*> sums;
    for (size_t n = 0; n < count; ++n) sums.push_back(Product());
    const bool one_store = count == 1 || rng_.Percent(50);
    std::vector<const UOp*> roots;
    if (one_store) {
      const UOp* all = sums[0];
      for (size_t n = 1; n < count; ++n) {
        all = b_.Alu(rng_.Pick({Op::kAdd, Op::kMul, Op::kMax}), {all, sums[n]});
      }
      roots.push_back(Finished(all));
    } else {
      for (const UOp* sum : sums) roots.push_back(Finished(sum));
    }
    std::vector<std::string> names;
    Shape shape;
    for (int64_t axis : order_) shape.push_back(sizes_[static_cast<size_t>(axis)]);
    while (names.size() < roots.size()) {
      names.push_back(Declare("y", DType(scalar_), Role::kOutput, shape));
    }
    module_.graphs[0]->body.root =
        b_.Sink(roots, std::vector<std::string_view>(names.begin(), names.end()));
    return std::move(out_);
  }

 private:
  enum class Along : uint8_t { kBatch, kRow, kLane };
  using Order = std::vector<int64_t>;

  void AddAxis(Along role, int64_t size) {
    roles_.push_back(role);
    sizes_.push_back(size);
    order_.push_back(static_cast<int64_t>(order_.size()));
    // The results in a random layout.
    std::swap(order_.back(),
              order_[static_cast<size_t>(rng_.Below(static_cast<int64_t>(order_.size())))]);
  }

  // Returns the name of a new buffer.
  std::string Declare(std::string prefix, DType type, Role role, const Shape& shape) {
    BufferDecl decl;
    const std::string name = decl.name = prefix + std::to_string(module_.buffers.size());
    decl.dtype = type;
    decl.role = role;
    std::vector<int64_t> sizes;
    for (const Dim& d : shape) {
      decl.shape.push_back({d.value(), ""});
      sizes.push_back(d.value());
    }
    if (role == Role::kInput) {
      out_.inputs[decl.name] = RandomBuffer(rng_, type.scalar(), sizes, ValueStyle::kTame);
    }
    module_.buffers.push_back(std::move(decl));
    return name;
  }

  Order Shuffled(size_t n) {
    Order order(n);
    std::iota(order.begin(), order.end(), 0);
    for (size_t i = n; i > 1; --i) {
      std::swap(order[i - 1], order[static_cast<size_t>(rng_.Below(static_cast<int64_t>(i)))]);
    }
    return order;
  }

  // An input in a random layout, with its axes in the order of `shape`.
  const UOp* Input(const Shape& shape) {
    const Order layout = Shuffled(shape.size());
    Shape stored;
    Order back(shape.size());
    for (size_t i = 0; i < layout.size(); ++i) {
      stored.push_back(shape[static_cast<size_t>(layout[i])]);
      back[static_cast<size_t>(layout[i])] = static_cast<int64_t>(i);
    }
    const DType type(narrow_);
    const std::string name = Declare("x", type, Role::kInput, stored);
    const UOp* x = b_.Permute(b_.Buffer(name, type), back);
    if (rng_.Percent(15)) x = b_.Flip(x, Order{rng_.Below(static_cast<int64_t>(shape.size()))});
    if (rng_.Percent(20)) x = b_.Alu(Op::kNeg, {x});
    if (rng_.Percent(10)) x = b_.Add(x, b_.Broadcast(b_.ConstInt(type, 1), shape));
    return narrow_ == scalar_ ? x : b_.Cast(x, DType(scalar_));
  }

  // Windows over the last axis of `x`, of `size` elements: [..., steps, terms] with a stride.
  const UOp* Windows(const UOp* x, Shape shape, int64_t steps, int64_t terms, int64_t stride) {
    const int64_t size = shape.back().value();
    const int64_t copies = (terms * (size + 1) + size - 1) / size;
    shape.pop_back();
    const auto reshape = [&](std::initializer_list<int64_t> last) {
      Shape to = shape;
      for (int64_t d : last) to.push_back(d);
      x = b_.Reshape(x, to);
    };
    const auto shrink = [&](std::initializer_list<std::pair<int64_t, int64_t>> last) {
      std::vector<std::pair<Dim, Dim>> ranges;
      for (const Dim& d : shape) ranges.emplace_back(0, d);
      for (const auto& [from, to] : last) ranges.emplace_back(from, to);
      x = b_.Shrink(x, ranges);
    };
    reshape({1, size});
    Shape repeated = shape;
    repeated.push_back(copies);
    repeated.push_back(size);
    x = b_.Expand(x, repeated);
    reshape({copies * size});
    shrink({{0, terms * (size + 1)}});
    reshape({terms, size + 1});
    shrink({{0, terms}, {0, steps * stride}});
    reshape({terms, steps, stride});
    shrink({{0, terms}, {0, steps}, {0, 1}});
    reshape({terms, steps});
    Order order(shape.size());
    std::iota(order.begin(), order.end(), 0);
    order.push_back(static_cast<int64_t>(shape.size()) + 1);
    order.push_back(static_cast<int64_t>(shape.size()));
    return b_.Permute(x, order);
  }

  // An operand that varies along the stored axes `axes` and the terms `along`, and is repeated
  // along all others. Its axes are those of the result, then the terms.
  const UOp* Operand(const std::vector<size_t>& axes, const std::vector<size_t>& along,
                     const std::vector<int64_t>& terms) {
    Shape shape;
    std::vector<size_t> at;  // the position of each axis of `shape` among all axes
    for (size_t axis : axes) shape.push_back(sizes_[axis]), at.push_back(axis);
    for (size_t t : along) shape.push_back(terms[t]), at.push_back(sizes_.size() + t);
    const UOp* x = nullptr;
    if (!axes.empty() && !along.empty() && rng_.Percent(35)) {
      // Its last stored axis and its last term in a window.
      const int64_t steps = sizes_[axes.back()], count = terms[along.back()];
      const int64_t stride = rng_.Pick({1, 1, 1, 2, 3});
      if (stride <= count + 1) {
        const int64_t size = (steps - 1) * stride + count;
        const int64_t padding = rng_.Percent(60) ? std::min<int64_t>((size - 1) / 2, count / 2) : 0;
        Shape source;
        for (size_t n = 0; n + 1 < axes.size(); ++n) source.push_back(shape[n]);
        for (size_t n = axes.size(); n + 1 < shape.size(); ++n) source.push_back(shape[n]);
        source.push_back(size - 2 * padding);
        x = Input(source);
        if (padding > 0) {
          std::vector<std::pair<Dim, Dim>> widths(source.size(), {0, 0});
          widths.back() = {padding, padding};
          x = b_.Pad(x, widths);
        }
        source.back() = size;
        x = Windows(x, source, steps, count, stride);
        const size_t last = axes.back();
        at.erase(at.begin() + static_cast<ptrdiff_t>(axes.size()) - 1);
        at.insert(at.end() - 1, last);
      }
    }
    if (!x && !along.empty() && terms[along.back()] % 2 == 0 && rng_.Percent(25)) {
      // The last term in two parts, which are no neighbours in memory.
      Shape parts = shape;
      parts.back() = 2;
      parts.push_back(shape.back().value() / 2);
      x = b_.Reshape(Input(parts), shape);
    }
    if (!x) x = Input(shape);
    // To the order of all axes, with ones for those along which it repeats.
    Order order(at.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
      return at[static_cast<size_t>(a)] < at[static_cast<size_t>(b)];
    });
    x = b_.Permute(x, order);
    Shape ones, whole;
    for (size_t n = 0; n < sizes_.size() + terms.size(); ++n) {
      const int64_t size = n < sizes_.size() ? sizes_[n] : terms[n - sizes_.size()];
      whole.push_back(size);
      ones.push_back(std::find(at.begin(), at.end(), n) != at.end() ? size : 1);
    }
    return b_.Expand(b_.Reshape(x, ones), whole);
  }

  const UOp* Product() {
    std::vector<int64_t> terms;
    for (int64_t n = rng_.Pick({1, 1, 2, 3}); n > 0; --n) {
      terms.push_back(terms.empty() ? rng_.Pick({1, 4, 6, 12, 17, 48}) : rng_.In(1, 3));
    }
    std::vector<size_t> all(terms.size());
    std::iota(all.begin(), all.end(), 0);
    const UOp* operands[2];
    for (const Along own : {Along::kRow, Along::kLane}) {
      std::vector<size_t> axes;
      for (size_t n = 0; n < sizes_.size(); ++n) {
        if (roles_[n] == own || roles_[n] == Along::kBatch) axes.push_back(n);
      }
      operands[own == Along::kLane] = Operand(axes, all, terms);
    }
    if (rng_.Percent(50)) std::swap(operands[0], operands[1]);
    const UOp* product = b_.Mul(operands[0], operands[1]);
    Order reduced;
    for (size_t n = 0; n < terms.size(); ++n) {
      reduced.push_back(static_cast<int64_t>(sizes_.size() + n));
    }
    const UOp* sum = b_.ReduceAxis(product, Op::kAdd, reduced);
    Shape stored;
    for (int64_t size : sizes_) stored.push_back(size);
    return b_.Reshape(sum, stored);
  }

  // What is stored of a sum, in the layout of the results.
  const UOp* Finished(const UOp* sum) {
    Shape stored;
    for (int64_t size : sizes_) stored.push_back(size);
    if (rng_.Percent(40)) {
      // A bias along one axis.
      const auto axis = static_cast<size_t>(rng_.Below(static_cast<int64_t>(sizes_.size())));
      Shape ones(stored.size(), 1);
      ones[axis] = stored[axis];
      sum = b_.Add(sum, b_.Expand(b_.Reshape(Input({stored[axis]}), ones), stored));
    }
    if (rng_.Percent(30))
      sum = b_.Alu(Op::kMax, {sum, b_.Broadcast(b_.ConstInt(DType(scalar_), 0), stored)});
    if (rng_.Percent(20)) sum = b_.Alu(Op::kNeg, {sum});
    return b_.Permute(sum, order_);
  }

  RandomProgram out_;
  Rng rng_;
  Module& module_;
  Builder b_;
  Scalar scalar_, narrow_;
  std::vector<Along> roles_;
  std::vector<int64_t> sizes_;
  Order order_;  // of the stored axes in memory
};

}  // namespace

RandomProgram MakeContractions(uint64_t seed) { return Maker(seed).Run(); }

}  // namespace tg::testing
