#include "passes/kernelize/winograd.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/arithmetic.h"

namespace tg::kernelize {
namespace {

// By the points 0, 1, -1 and infinity.
constexpr double kFrom2[] = {1, 0,  -1, 0,  //
                             0, 1,  1,  0,  //
                             0, -1, 1,  0,  //
                             0, 1,  0,  -1};
constexpr double kWeights2[] = {1, 0, 0, 0.5, 0.5, 0.5, 0.5, -0.5, 0.5, 0, 0, 1};
constexpr double kTo2[] = {1, 1, 1, 0, 0, 1, -1, -1};

// By the points 0, 1, -1, 2, -2 and infinity.
constexpr double kFrom4[] = {4, 0,  -5, 0,  1, 0,  //
                             0, -4, -4, 1,  1, 0,  //
                             0, 4,  -4, -1, 1, 0,  //
                             0, -2, -1, 2,  1, 0,  //
                             0, 2,  -1, -2, 1, 0,  //
                             0, 4,  0,  -5, 0, 1};
constexpr double kWeights4[] = {1.0 / 4,  0,         0,         //
                                -1.0 / 6, -1.0 / 6,  -1.0 / 6,  //
                                -1.0 / 6, 1.0 / 6,   -1.0 / 6,  //
                                1.0 / 24, 1.0 / 12,  1.0 / 6,   //
                                1.0 / 24, -1.0 / 12, 1.0 / 6,   //
                                0,        0,         1};
constexpr double kTo4[] = {1, 1, 1,  1, 1,  0,  //
                           0, 1, -1, 2, -2, 0,  //
                           0, 1, 1,  4, 4,  0,  //
                           0, 1, -1, 8, -8, 1};

constexpr WinogradForm kForms[] = {{2, kFrom2, kWeights2, kTo2}, {4, kFrom4, kWeights4, kTo4}};

class TilesWriter {
 public:
  TilesWriter(Builder& b, ShapeMap& shapes, const Convolution& c, const WinogradForm& form)
      : b_(b), shapes_(shapes), c_(c), form_(form) {}

  const UOp* Write() {
    const int64_t points = form_.points(), n = c_.images, channels = c_.channels;
    const int64_t rows = Tiles(0), columns = Tiles(1), tiles = n * rows * columns;
    const UOp* from = Matrix(form_.from, points);
    // [channels, n, height, width]
    const UOp* x = Windows(Extended(), 2, rows);
    x = b_.Permute(x, std::vector<int64_t>{2, 0, 1, 3, 4});
    x = Stored(Applied(from, points, x, 0));
    x = Windows(x, 4, columns);
    x = b_.Permute(x, std::vector<int64_t>{0, 4, 1, 2, 3, 5});
    x = Stored(b_.Reshape(Applied(from, points, x, 1), {points * points, 1, channels, tiles}));
    const UOp* w = b_.Reshape(Weights(), {points * points, c_.results, channels, 1});
    const Shape all = {points * points, c_.results, channels, tiles};
    const UOp* y = b_.ReduceAxis(b_.Mul(b_.Expand(w, all), b_.Expand(x, all)), Op::kAdd, {{2}});
    y = Stored(b_.Reshape(y, {points, points, c_.results, n, rows, columns}));
    const UOp* to = Matrix(form_.to, form_.tile);
    y = Stored(Applied(to, form_.tile, y, 0));
    y = Applied(to, form_.tile, y, 1);
    return Result(b_.Permute(y, std::vector<int64_t>{3, 2, 4, 0, 5, 1}), n);
  }

 private:
  int64_t Tiles(size_t s) const { return CeilDiv(c_.space[s].results, form_.tile); }

  const UOp* Stored(const UOp* x) { return b_.context().Make(Op::kContiguous, x->dtype, {x}); }

  // A matrix of `rows` rows, by arithmetic on indices.
  const UOp* Matrix(std::span<const double> elements, int64_t rows) {
    const auto size = static_cast<int64_t>(elements.size());
    const UOp* at = b_.Iota(size);
    const UOp* x = b_.Expand(b_.Reshape(b_.Const(Scalar::kF32, 0), {1}), {size});
    for (int64_t k = size; k-- > 0;) {
      const double element = elements[static_cast<size_t>(k)];
      if (element == 0) continue;
      const UOp* others = b_.Alu(Op::kCmpNe, {at, b_.Index(k)});
      x = b_.Where(others, x, b_.Const(Scalar::kF32, element));
    }
    return b_.Reshape(Stored(x), {rows, size / rows});
  }

  // The matrix of `rows` rows times `x` along an axis.
  const UOp* Applied(const UOp* matrix, int64_t rows, const UOp* x, size_t axis) {
    const Shape shape = shapes_.Of(x);
    const int64_t columns = shape[axis].value();
    Shape each = shape, all = shape, of_matrix(shape.size() + 1, 1), result = shape;
    each.insert(each.begin() + static_cast<int64_t>(axis), 1);
    all.insert(all.begin() + static_cast<int64_t>(axis), rows);
    of_matrix[axis] = rows;
    of_matrix[axis + 1] = columns;
    result[axis] = rows;
    const UOp* a = b_.Expand(b_.Reshape(matrix, of_matrix), all);
    const UOp* product = b_.Mul(a, b_.Expand(b_.Reshape(x, each), all));
    const auto term = static_cast<int64_t>(axis + 1);
    return b_.Reshape(b_.ReduceAxis(product, Op::kAdd, {{term}}), result);
  }

  // Windows of as many elements as there are points, every `tile` elements, along an axis of the
  // size that Extended gives it: [.., element of the window, window, ..].
  const UOp* Windows(const UOp* x, size_t axis, int64_t windows) {
    Shape shape = shapes_.Of(x);
    const int64_t points = form_.points(), size = shape[axis].value();
    // The first element of copy number i is that of window element i, as each copy is read one
    // element further.
    const int64_t row = size + 1, copies = CeilDiv(points * row, size);
    const auto with = [&](std::initializer_list<int64_t> sizes) {
      Shape out = shape;
      out.erase(out.begin() + static_cast<int64_t>(axis));
      out.insert(out.begin() + static_cast<int64_t>(axis), sizes.begin(), sizes.end());
      return out;
    };
    x = b_.Expand(b_.Reshape(x, with({1, size})), with({copies, size}));
    x = Begin(b_.Reshape(x, with({copies * size})), with({points * row}));
    x = b_.Reshape(x, with({points, row / form_.tile, form_.tile}));
    return b_.Reshape(Begin(x, with({points, windows, 1})), with({points, windows}));
  }

  const UOp* Begin(const UOp* x, const Shape& shape) {
    std::vector<std::pair<Dim, Dim>> ranges;
    for (const Dim& d : shape) ranges.emplace_back(0, d);
    return b_.Shrink(x, ranges);
  }

  // The input with zeros around it: the pads of the convolution, and behind the last window.
  const UOp* Extended() {
    Shape shape = shapes_.Of(c_.from);
    std::vector<std::pair<Dim, Dim>> widths(shape.size());
    if (c_.input != c_.from) widths = PairsOf(c_.from);
    Shape cut = shape;
    for (size_t s = 0; s < 2; ++s) {
      const size_t axis = c_.space[s].from;
      // The least number that the windows fit in and that is one less than a multiple of the tile.
      const int64_t size =
          (CeilDiv(form_.points() + 1, form_.tile) + Tiles(s) - 1) * form_.tile - 1;
      widths[axis].second =
          widths[axis].second.value() + std::max<int64_t>(0, size - shape[axis].value());
      cut[axis] = size;
    }
    const UOp* x = b_.Pad(c_.input, widths);
    if (shapes_.Of(x) != cut) x = Begin(x, cut);
    std::vector<int64_t> order;
    if (c_.from_channel) order.push_back(static_cast<int64_t>(*c_.from_channel));
    for (const auto& [axis, of] : c_.batch) order.push_back(static_cast<int64_t>(axis));
    for (const Convolution::Space& s : c_.space) order.push_back(static_cast<int64_t>(s.from));
    for (size_t axis = 0; axis < shape.size(); ++axis) {
      const auto own = static_cast<int64_t>(axis);
      if (std::find(order.begin(), order.end(), own) == order.end()) order.push_back(own);
    }
    x = b_.Permute(x, order);
    return b_.Reshape(x, {c_.channels, c_.images, cut[c_.space[0].from], cut[c_.space[1].from]});
  }

  const UOp* Weights() {
    // One element along the axes that the weights do not vary along.
    const UOp* w = c_.reduce->src(0)->src(c_.weight_factor);
    const size_t rank = shapes_.Of(w).size();
    Shape own(rank, 1);
    std::vector<int64_t> order;
    const auto take = [&](std::optional<size_t> axis) {
      if (!axis) return;
      own[*axis] = shapes_.Of(w)[*axis];
      order.push_back(static_cast<int64_t>(*axis));
    };
    take(c_.to);
    take(c_.channel);
    for (const Convolution::Space& s : c_.space) take(s.window);
    for (size_t axis = 0; axis < rank; ++axis) {
      const auto k = static_cast<int64_t>(axis);
      if (std::find(order.begin(), order.end(), k) == order.end()) order.push_back(k);
    }
    const int64_t window = c_.window;
    w = b_.Reshape(b_.Permute(Begin(w, own), order), {c_.results, c_.channels, window, window});
    const UOp* matrix = Matrix(form_.weights, form_.points());
    w = b_.Permute(w, std::vector<int64_t>{2, 3, 0, 1});
    return Stored(Applied(matrix, form_.points(), Applied(matrix, form_.points(), w, 0), 1));
  }

  // From [n, results, row of tiles, row, column of tiles, column] to the shape of the reduce.
  const UOp* Result(const UOp* y, int64_t n) {
    const int64_t sizes[] = {c_.space[0].results, c_.space[1].results};
    y = b_.Reshape(y, {n, c_.results, Tiles(0) * form_.tile, Tiles(1) * form_.tile});
    if (sizes[0] % form_.tile != 0 || sizes[1] % form_.tile != 0) {
      y = Begin(y, {n, c_.results, sizes[0], sizes[1]});
    }
    const Shape& to = shapes_.Of(c_.reduce);
    std::vector<size_t> axes;  // of the reduce, in y's order
    for (const auto& [axis, of] : c_.batch) axes.push_back(of);
    if (c_.to) axes.push_back(*c_.to);
    for (const Convolution::Space& s : c_.space) axes.push_back(s.result);
    Shape whole;
    for (size_t axis : axes) whole.push_back(to[axis]);
    std::vector<int64_t> order;
    for (size_t axis = 0; axis < to.size(); ++axis) {
      const auto at = std::find(axes.begin(), axes.end(), axis);
      if (at != axes.end()) order.push_back(at - axes.begin());
    }
    return b_.Reshape(b_.Permute(b_.Reshape(y, whole), order), to);
  }

  Builder& b_;
  ShapeMap& shapes_;
  const Convolution& c_;
  const WinogradForm& form_;
};

}  // namespace

std::span<const WinogradForm> WinogradForms() { return kForms; }

WinogradWork WorkOf(const Convolution& c, const WinogradForm& form) {
  const auto points = static_cast<double>(form.points()), tile = static_cast<double>(form.tile);
  double tiles = static_cast<double>(c.images);
  for (const Convolution::Space& s : c.space) {
    tiles *= static_cast<double>(CeilDiv(s.results, form.tile));
  }
  const auto from = tiles * static_cast<double>(c.channels);
  const auto to = tiles * static_cast<double>(c.results);
  WinogradWork out;
  out.operations = 2 * points * points * from * static_cast<double>(c.results);
  out.transforms =
      2 * points * points * ((tile + points) * from + tile * to) + 2 * points * tile * tile * to;
  out.bytes = 4 * points * ((tile + points) * from + (points + tile) * to);
  return out;
}

const UOp* ByTiles(Builder& b, ShapeMap& shapes, const Convolution& convolution,
                   const WinogradForm& form) {
  return TilesWriter(b, shapes, convolution, form).Write();
}

}  // namespace tg::kernelize
