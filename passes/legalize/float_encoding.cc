#include "passes/legalize/float_encoding.h"

#include <cmath>

#include "ir/float_format.h"
#include "ir/value.h"

namespace tg::legalize {

namespace {

// Integer arithmetic on vectors of one unsigned type.
struct Word {
  Builder& b;
  DType t;

  const UOp* Int(uint64_t v) const { return b.ConstInt(t, static_cast<int64_t>(v)); }
  const UOp* And(const UOp* x, uint64_t v) const { return b.And(x, Int(v)); }
  const UOp* Or(const UOp* x, const UOp* y) const { return b.Alu(Op::kOr, {x, y}); }
  const UOp* Add(const UOp* x, uint64_t v) const { return b.Add(x, Int(v)); }
  const UOp* Sub(const UOp* x, uint64_t v) const { return b.Sub(x, Int(v)); }
  const UOp* Shl(const UOp* x, int by) const {
    return by ? b.Alu(Op::kShl, {x, Int(static_cast<uint64_t>(by))}) : x;
  }
  const UOp* Shr(const UOp* x, int by) const {
    return by ? b.Alu(Op::kShr, {x, Int(static_cast<uint64_t>(by))}) : x;
  }
  const UOp* Above(const UOp* x, uint64_t v) const { return b.Lt(Int(v), x); }
  const UOp* Below(const UOp* x, uint64_t v) const { return b.Lt(x, Int(v)); }
};

constexpr uint64_t Ones(int n) { return n >= 64 ? ~0ull : (1ull << n) - 1; }

}  // namespace

const UOp* RoundToFormat(Builder& b, const UOp* x, Scalar to) {
  const Scalar wide_type = x->dtype.scalar();
  const FloatFormat wide = FormatOf(wide_type), format = FormatOf(to);
  const int lanes = x->dtype.lanes();
  const Word w{b, DType(BitsType(wide_type), lanes)};
  const int dropped = wide.mantissa_bits - format.mantissa_bits;
  const uint64_t retained_bits = Ones(wide.bits() - 1) & ~Ones(dropped);
  const uint64_t infinity = Ones(wide.exponent_bits) << wide.mantissa_bits;
  const auto bits_of = [&](double v) {
    return static_cast<uint64_t>(BitsFromDouble(wide_type, v));
  };

  const UOp* bits = b.Bitcast(x, w.t);
  const UOp* sign = w.And(bits, 1ull << (wide.bits() - 1));
  const UOp* magnitude = w.And(bits, Ones(wide.bits() - 1));
  // Half a unit, less one if the last kept bit is even: a carry runs on into the exponent.
  const UOp* odd = w.And(w.Shr(magnitude, dropped), 1);
  const UOp* rounded =
      w.And(b.Add(w.Add(magnitude, (1ull << (dropped - 1)) - 1), odd), retained_bits);

  if (format.min_exponent() > wide.min_exponent()) {
    // Subnormal numbers of the format all have the same unit in the last place. Adding the power of
    // two that has this unit too rounds to it; the difference of the bits then counts the units.
    const int unit = format.min_exponent() - format.mantissa_bits;
    const double anchor = std::ldexp(1.0, wide.mantissa_bits + unit);
    const UOp* sum = b.Add(b.Bitcast(magnitude, x->dtype), b.Const(x->dtype, anchor));
    const UOp* count = w.Sub(b.Bitcast(sum, w.t), bits_of(anchor));
    const UOp* subnormal = b.Mul(b.Cast(count, x->dtype), b.Const(x->dtype, std::ldexp(1.0, unit)));
    rounded = b.Where(w.Below(magnitude, bits_of(std::ldexp(1.0, format.min_exponent()))),
                      b.Bitcast(subnormal, w.t), rounded);
  }
  if (format.exponent_bits < wide.exponent_bits || !format.has_inf) {
    // All ones but the lowest mantissa bit is the largest number where there is no infinity.
    const int top = format.has_inf ? format.bias() : format.bias() + 1;
    const double largest =
        std::ldexp(2.0 - std::ldexp(format.has_inf ? 1.0 : 2.0, -format.mantissa_bits), top);
    const uint64_t beyond = format.has_inf ? infinity : infinity | (retained_bits & ~infinity);
    rounded = b.Where(w.Above(rounded, bits_of(largest)), w.Int(beyond), rounded);
  }
  const uint64_t quiet =
      format.has_inf ? 1ull << (wide.mantissa_bits - 1) : retained_bits & ~infinity;
  const UOp* nan = w.Or(w.And(magnitude, retained_bits), w.Int(infinity | quiet));
  rounded = b.Where(w.Above(magnitude, infinity), nan, rounded);
  return b.Bitcast(w.Or(sign, rounded), x->dtype);
}

const UOp* EncodeFloat(Builder& b, const UOp* x, Scalar to) {
  const FloatFormat format = FormatOf(to);
  const Word w{b, DType(Scalar::kU32, x->dtype.lanes())};
  const int dropped = 23 - format.mantissa_bits;
  const UOp* bits = b.Bitcast(x, w.t);
  if (format.exponent_bits == 8) return w.Shr(bits, dropped);  // bf16 is f32's upper half

  const UOp* sign = w.Shl(w.Shr(bits, 31), format.bits() - 1);
  const UOp* magnitude = w.And(bits, Ones(31));
  const auto rebias = static_cast<uint64_t>(127 - format.bias()) << format.mantissa_bits;
  const uint64_t ones = Ones(format.exponent_bits) << format.mantissa_bits;
  const UOp* code = w.Sub(w.Shr(magnitude, dropped), rebias);

  const int unit = format.min_exponent() - format.mantissa_bits;
  const UOp* units =
      b.Mul(b.Bitcast(magnitude, x->dtype), b.Const(x->dtype, std::ldexp(1.0, -unit)));
  // Selected only if the value is small; converting a large value would be undefined.
  const UOp* small = w.Below(magnitude, static_cast<uint64_t>(127 + format.min_exponent()) << 23);
  units = b.Where(small, units, b.Const(x->dtype, 0));
  code = b.Where(small, b.Cast(units, w.t), code);

  // Infinity, and NaN with what is left of its payload.
  const UOp* special =
      w.Or(w.And(w.Shr(magnitude, dropped), Ones(format.mantissa_bits)), w.Int(ones));
  code = b.Where(w.Above(magnitude, (0xffull << 23) - 1), special, code);
  return w.Or(sign, code);
}

const UOp* DecodeFloat(Builder& b, const UOp* bits, Scalar from) {
  const FloatFormat format = FormatOf(from);
  const Word w{b, bits->dtype};
  const DType f32(Scalar::kF32, bits->dtype.lanes());
  const int dropped = 23 - format.mantissa_bits;
  if (format.exponent_bits == 8) return b.Bitcast(w.Shl(bits, dropped), f32);

  const UOp* sign = w.Shl(w.Shr(bits, format.bits() - 1), 31);
  const UOp* code = w.And(bits, Ones(format.bits() - 1));
  const uint64_t ones = Ones(format.exponent_bits) << format.mantissa_bits;
  const UOp* magnitude =
      w.Add(w.Shl(code, dropped), static_cast<uint64_t>(127 - format.bias()) << 23);

  const int unit = format.min_exponent() - format.mantissa_bits;
  const UOp* subnormal = b.Mul(b.Cast(code, f32), b.Const(f32, std::ldexp(1.0, unit)));
  magnitude =
      b.Where(w.Below(code, 1ull << format.mantissa_bits), b.Bitcast(subnormal, w.t), magnitude);

  // Where there is an infinity, all patterns from it on are special; else the last one is.
  const uint64_t first_special = format.has_inf ? ones : Ones(format.bits() - 1);
  const UOp* payload = w.Shl(w.And(code, Ones(format.mantissa_bits)), dropped);
  const UOp* nan = w.Or(payload, w.Int(0x7fc00000));
  const UOp* special =
      format.has_inf ? b.Where(w.Above(code, first_special), nan, w.Int(0x7f800000)) : nan;
  magnitude = b.Where(w.Above(code, first_special - 1), special, magnitude);
  return b.Bitcast(w.Or(sign, magnitude), f32);
}

const UOp* IntToStickyF32(Builder& b, const UOp* x) {
  const DType t = x->dtype;
  const DType f32(Scalar::kF32, t.lanes());
  if (BitWidth(t.scalar()) < 32) return b.Cast(x, f32);  // exact
  const bool is_signed = IsSigned(t.scalar());
  const int bits = BitWidth(t.scalar());
  const Word w{b, DType(bits == 32 ? Scalar::kU32 : Scalar::kU64, t.lanes())};
  const UOp* negative = is_signed ? b.Lt(x, b.ConstInt(t, 0)) : nullptr;
  const UOp* magnitude = is_signed ? b.Bitcast(b.Where(negative, b.Alu(Op::kNeg, {x}), x), w.t) : x;
  // With the highest bit at t, f32 holds the bits from t-23 up and bf16 rounds at bit t-8: the
  // sticky bit may be any between.
  const UOp* low = w.Int(0);
  for (const auto& [from, sticky] : {std::pair(24, 8), {32, 23}, {47, 38}, {62, 53}}) {
    if (from >= bits) break;
    low = b.Where(w.Below(magnitude, 1ull << from), low, w.Int(Ones(sticky + 1)));
  }
  const UOp* lost = b.And(magnitude, low);
  const UOp* sticky = b.Where(w.Above(lost, 0), b.Sub(low, w.Shr(low, 1)), w.Int(0));
  const UOp* high = b.Sub(magnitude, lost);
  const UOp* value = b.Cast(w.Or(high, sticky), f32);
  return is_signed ? b.Where(negative, b.Alu(Op::kNeg, {value}), value) : value;
}

}  // namespace tg::legalize
