#include "ir/interpret/random_data.h"

#include <limits>

#include "base/check.h"
#include "base/hash.h"
#include "ir/interpret/scalar.h"
#include "ir/value.h"

namespace tg::interpret {
namespace {

// A counter hashed by Threefry: element i of a seed is the same whatever is drawn before.
class Draws {
 public:
  explicit Draws(uint64_t key) : key_(key) {}
  uint64_t Next() { return Threefry2x32(counter_++, key_); }
  int64_t Below(int64_t n) { return static_cast<int64_t>(Next() % static_cast<uint64_t>(n)); }
  // In [0, 1), a multiple of 2^-24.
  double Unit() { return static_cast<double>(Next() >> 40) * 0x1p-24; }

 private:
  uint64_t key_;
  uint64_t counter_ = 0;
};

int64_t SpecialBits(Scalar s, Draws& draws) {
  if (!IsFloat(s)) {
    const int64_t choices[] = {MinValue(s), MaxValue(s), 0, BitsFromInt(s, 1), BitsFromInt(s, -1)};
    return choices[draws.Below(5)];
  }
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const int64_t sign = static_cast<int64_t>(1ull << (BitWidth(s) - 1));
  const int64_t largest = MaxValue(s) - (s == Scalar::kFp8E4M3 ? 0 : 1);  // below infinity
  const int64_t choices[] = {
      BitsFromDouble(s, std::numeric_limits<double>::quiet_NaN()),
      BitsFromDouble(s, kInf),
      BitsFromDouble(s, -kInf),
      BitsFromDouble(s, -0.0),
      0,
      1,  // the smallest positive number
      1 | sign,
      2 + draws.Below(2),
      largest,
      largest | sign,
  };
  return choices[draws.Below(10)];
}

int64_t OrdinaryBits(Scalar s, const RandomDataOptions& o, Draws& draws) {
  if (s == Scalar::kBool) return draws.Below(2);
  if (IsFloat(s)) {
    if (o.exact_sums) return BitsFromDouble(s, static_cast<double>(draws.Below(17) - 8) / 4);
    const double magnitude = 0.0625 + 2 * draws.Unit();
    return BitsFromDouble(s, draws.Below(2) ? magnitude : -magnitude);
  }
  if (o.small_integers) return IsUnsigned(s) ? draws.Below(16) : draws.Below(16) - 8;
  return WrapInt(s, static_cast<int64_t>(draws.Next()));
}

}  // namespace

HostBuffer RandomBuffer(DType dtype, std::vector<int64_t> shape, const RandomDataOptions& options) {
  Draws draws(options.seed);
  HostBuffer b{dtype, std::move(shape), {}, {}, {}, {}};
  b.data.resize(static_cast<size_t>(NumElements(b.shape)));
  for (int64_t& bits : b.data) {
    const bool special = options.special_values && draws.Below(8) == 0;
    bits =
        special ? SpecialBits(dtype.scalar(), draws) : OrdinaryBits(dtype.scalar(), options, draws);
  }
  return b;
}

std::vector<int64_t> ShapeUnder(const BufferDecl& decl, const VarValues& vars) {
  std::vector<int64_t> shape;
  for (const DeclDim& d : decl.shape) {
    const std::optional<int64_t> extent =
        d.Evaluate([&](std::string_view name) -> std::optional<int64_t> {
          const auto it = vars.find(name);
          return it == vars.end() ? std::nullopt : std::optional(it->second);
        });
    TG_CHECK(extent && *extent >= 0);
    shape.push_back(*extent);
  }
  return shape;
}

HostBuffers RandomInputs(const Module& module, const VarValues& vars,
                         const RandomDataOptions& options) {
  HostBuffers inputs;
  for (const BufferDecl& decl : module.buffers) {
    const bool read = decl.role == Role::kInput || decl.role == Role::kState ||
                      (decl.role == Role::kParam && !decl.values);
    if (!read) continue;
    RandomDataOptions own = options;
    own.seed = Threefry2x32(options.seed, Fnv64(decl.name));
    inputs[decl.name] = RandomBuffer(decl.dtype, ShapeUnder(decl, vars), own);
  }
  return inputs;
}

}  // namespace tg::interpret
