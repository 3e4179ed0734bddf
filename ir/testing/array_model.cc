#include "ir/testing/array_model.h"

#include "base/check.h"

namespace tg::testing {

Array Filled(const std::vector<int64_t>& shape,
             const std::function<int64_t(const Coordinates&)>& item) {
  Array out{shape, {}};
  Coordinates at(shape.size(), 0);
  for (int64_t extent : shape) {
    if (extent == 0) return out;
  }
  while (true) {
    out.items.push_back(item(at));
    size_t axis = shape.size();
    while (axis > 0 && ++at[axis - 1] == shape[axis - 1]) at[--axis] = 0;
    if (axis == 0) return out;
  }
}

int64_t ItemAt(const Array& x, const Coordinates& at) {
  int64_t i = 0;
  for (size_t k = 0; k < at.size(); ++k) {
    TG_CHECK(at[k] >= 0 && at[k] < x.shape[k]);
    i = i * x.shape[k] + at[k];
  }
  return x.items[static_cast<size_t>(i)];
}

Array Reshaped(const Array& x, std::vector<int64_t> shape) { return {std::move(shape), x.items}; }

Array Permuted(const Array& x, const std::vector<int64_t>& order) {
  std::vector<int64_t> shape;
  for (int64_t k : order) shape.push_back(x.shape[static_cast<size_t>(k)]);
  return Filled(shape, [&](const Coordinates& to) {
    Coordinates from(to.size());
    for (size_t k = 0; k < to.size(); ++k) from[static_cast<size_t>(order[k])] = to[k];
    return ItemAt(x, from);
  });
}

Array Flipped(const Array& x, const std::vector<int64_t>& axes) {
  return Filled(x.shape, [&](Coordinates at) {
    for (int64_t axis : axes) {
      const auto k = static_cast<size_t>(axis);
      at[k] = x.shape[k] - 1 - at[k];
    }
    return ItemAt(x, at);
  });
}

Array Shrunk(const Array& x, const std::vector<std::pair<int64_t, int64_t>>& pairs) {
  std::vector<int64_t> shape;
  for (const auto& [begin, end] : pairs) shape.push_back(end - begin);
  return Filled(shape, [&](Coordinates at) {
    for (size_t k = 0; k < at.size(); ++k) at[k] += pairs[k].first;
    return ItemAt(x, at);
  });
}

Array Padded(const Array& x, const std::vector<std::pair<int64_t, int64_t>>& pairs,
             int64_t padding) {
  std::vector<int64_t> shape;
  for (size_t k = 0; k < pairs.size(); ++k) {
    shape.push_back(pairs[k].first + x.shape[k] + pairs[k].second);
  }
  return Filled(shape, [&](Coordinates at) {
    for (size_t k = 0; k < at.size(); ++k) {
      at[k] -= pairs[k].first;
      if (at[k] < 0 || at[k] >= x.shape[k]) return padding;
    }
    return ItemAt(x, at);
  });
}

Array Expanded(const Array& x, const std::vector<int64_t>& shape) {
  return Filled(shape, [&](Coordinates at) {
    for (size_t k = 0; k < at.size(); ++k) {
      if (x.shape[k] == 1) at[k] = 0;
    }
    return ItemAt(x, at);
  });
}

Array Counted(const std::vector<int64_t>& shape) {
  int64_t next = 0;
  return Filled(shape, [&](const Coordinates&) { return next++; });
}

}  // namespace tg::testing
