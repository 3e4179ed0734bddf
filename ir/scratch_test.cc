#include "ir/scratch.h"

#include "gtest/gtest.h"
#include "ir/builder.h"
#include "ir/context.h"

namespace tg {
namespace {

TEST(ScratchBytes, AddsUpOneSpaceAndSaturates) {
  Context context;
  Builder b(context);
  const auto scratch = [&](Scalar s, int64_t size, AddrSpace space) {
    return b.Scratch(DType::Pointer(s, size, space));
  };
  const UOp* nodes[] = {scratch(Scalar::kF32, 10, AddrSpace::kLocal),
                        scratch(Scalar::kI8, 3, AddrSpace::kLocal),
                        scratch(Scalar::kF64, 5, AddrSpace::kPrivate), b.Index(7),
                        scratch(Scalar::kF64, int64_t{1} << 60, AddrSpace::kReg)};
  EXPECT_EQ(ScratchBytes(nodes, AddrSpace::kLocal), 43);
  EXPECT_EQ(ScratchBytes(nodes, AddrSpace::kPrivate), 40);
  EXPECT_EQ(ScratchBytes(nodes, AddrSpace::kReg), INT64_MAX);
  const UOp* half = scratch(Scalar::kF64, int64_t{1} << 59, AddrSpace::kReg);
  const UOp* other = scratch(Scalar::kI64, int64_t{1} << 59, AddrSpace::kReg);
  const UOp* both[] = {half, other};
  EXPECT_EQ(ScratchBytes(both, AddrSpace::kReg), INT64_MAX);
}

}  // namespace
}  // namespace tg
