// Floats of bytes that are lanes of vectors, computed in words of 32 bits.
//
// A device whose registers are words extracts a byte, computes with it and converts it, each by
// an instruction. Here an op with a constant is that of the whole word, which neighbouring lanes
// share, and one instruction places the byte as the last of the float 2^23 + byte, from which 2^23
// is subtracted together with the constant that the source subtracts. Integers up to 2^24 are exact
// floats, so that all values are the same.
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "codegen/clike/cat.h"
#include "codegen/opencl/kernel_writer.h"
#include "codegen/opencl/ptx.h"
#include "ir/value.h"

namespace tg::opencl {
namespace {

constexpr int kLanes = 4;  // bytes of a word
constexpr uint32_t kEachByte = 0x01010101;
constexpr uint32_t kByte = 0xff, kSign = 0x80;
constexpr double kMost = 1 << 22;  // of what is subtracted

std::string Hex(uint32_t bits) { return absl::StrCat("0x", absl::Hex(bits, absl::kZeroPad8)); }

}  // namespace

std::optional<OpenClWriter::ByteOfWord> OpenClWriter::FindByte(const UOp* u) {
  const Scalar s = u->dtype.scalar();
  if (u->dtype.lanes() != 1 || (s != Scalar::kU8 && s != Scalar::kI8)) return std::nullopt;
  if (u->op == Op::kGep) {
    const UOp* bytes = u->src(0);
    const int64_t lanes = bytes->dtype.lanes(), lane = u->list()[0];
    if (lanes % kLanes != 0) return std::nullopt;
    std::string word = Words(bytes);
    if (lanes > kLanes) absl::StrAppend(&word, ".s", absl::Hex(lane / kLanes));
    return ByteOfWord{std::move(word), lane % kLanes, false};
  }
  const bool shifts = u->op == Op::kShl || u->op == Op::kShr;
  const char* const op = u->op == Op::kAnd   ? " & "
                         : u->op == Op::kOr  ? " | "
                         : u->op == Op::kXor ? " ^ "
                         : u->op == Op::kShl ? " << "
                         : u->op == Op::kShr ? " >> "
                                             : nullptr;
  if (op == nullptr || !IsConst(u->src(1))) return std::nullopt;
  const auto c = static_cast<uint32_t>(u->src(1)->word()) & kByte;
  // A shift to the right copies the sign of a signed byte.
  if (shifts && (s == Scalar::kI8 || c > 7)) return std::nullopt;
  std::optional<ByteOfWord> byte = FindByte(u->src(0));
  if (!byte) return std::nullopt;
  std::string& word = byte->word;
  if (byte->is_computed) word = absl::StrCat("(", word, ")");
  byte->is_computed = true;
  if (!shifts) {
    word += absl::StrCat(op, Hex(c * kEachByte));
  } else {
    // What comes from a neighbouring byte is cleared.
    const uint32_t remaining = (u->op == Op::kShr ? kByte >> c : kByte << c & kByte) * kEachByte;
    word += absl::StrCat(op, c, " & ", Hex(remaining));
  }
  return byte;
}

bool OpenClWriter::FloatOfByte(const UOp* u, clike::Expr& e) {
  const bool subtracts = u->op == Op::kSub && IsConst(u->src(1));
  const UOp* cast = subtracts ? u->src(0) : u;
  if (!target_.inline_ptx || u->dtype != DType(Scalar::kF32) || cast->op != Op::kCast) return false;
  double subtrahend = 0;
  if (subtracts) {
    subtrahend = DoubleFromBits(Scalar::kF32, u->src(1)->word());
    if (subtrahend != std::trunc(subtrahend) || std::abs(subtrahend) >= kMost) return false;
  }
  std::optional<ByteOfWord> byte = FindByte(cast->src(0));
  if (!byte) return false;
  if (cast->src(0)->dtype.scalar() == Scalar::kI8) {
    // A signed byte whose sign is inverted is larger by 128.
    if (byte->is_computed) byte->word = absl::StrCat("(", byte->word, ")");
    absl::StrAppend(&byte->word, " ^ ", Hex(kSign * kEachByte));
    subtrahend += kSign;
  }
  e.text = clike::Cat(Call(FloatOfByteFunction()), "(", byte->word, ", ", byte->lane, ", ",
                      static_cast<int64_t>(subtrahend), ".0f)");
  e.precedence = clike::kPostfix;
  return true;
}

}  // namespace tg::opencl
