// The libraries that third_party/ finds on this machine: do they compile together with our flags
// (C++20, no exceptions, no RTTI), link, and run?

#define PCRE2_CODE_UNIT_WIDTH 8

#include <CL/cl.h>
#include <mpfr.h>
#include <pcre2.h>
#include <utf8proc.h>
#include <z3++.h>

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace tg::third_party {
namespace {

absl::StatusOr<int> ParseDigit(llvm::StringRef text) {
  int value;
  if (text.getAsInteger(10, value)) {
    return absl::InvalidArgumentError(absl::StrCat("not a number: ", text.str()));
  }
  return value;
}

TEST(Dependencies, AbslStatusCarriesValueOrError) {
  EXPECT_EQ(ParseDigit("42").value_or(0), 42);
  EXPECT_EQ(ParseDigit("x").status().message(), "not a number: x");
}

TEST(Dependencies, AbslContainersAndFormatLink) {
  absl::flat_hash_map<std::string, int> map;
  for (int i = 0; i < 100; ++i) map[absl::StrFormat("%03d", i)] = i;
  EXPECT_EQ(map.size(), 100u);
  EXPECT_EQ(map.at("042"), 42);
}

TEST(Dependencies, LlvmSourceManagerPrintsTheCaret) {
  llvm::SourceMgr manager;
  manager.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer("%0 = ad %1, %2\n", "a.uop"), {});
  const char* start = manager.getMemoryBuffer(1)->getBufferStart();
  std::string text;
  llvm::raw_string_ostream out(text);
  manager.PrintMessage(out, llvm::SMLoc::getFromPointer(start + 5), llvm::SourceMgr::DK_Error,
                       "unknown op", {}, {}, /*ShowColors=*/false);
  EXPECT_THAT(out.str(),
              testing::HasSubstr("a.uop:1:6: error: unknown op\n%0 = ad %1, %2\n     ^"));
}

TEST(Dependencies, Pcre2KnowsUnicode) {
  int error = 0;
  PCRE2_SIZE at = 0;
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>("\\p{L}+"), PCRE2_ZERO_TERMINATED,
                                   PCRE2_UTF | PCRE2_UCP, &error, &at, nullptr);
  ASSERT_NE(code, nullptr);
  pcre2_match_data* match = pcre2_match_data_create_from_pattern(code, nullptr);
  EXPECT_EQ(pcre2_match(code, reinterpret_cast<PCRE2_SPTR>("1\xC3\xA9x2"), 5, 0, 0, match, nullptr),
            1);
  EXPECT_EQ(pcre2_get_ovector_pointer(match)[1], 4u);
  pcre2_match_data_free(match);
  pcre2_code_free(code);
}

TEST(Dependencies, Utf8procKnowsCategories) {
  EXPECT_EQ(utf8proc_category(0xE9), UTF8PROC_CATEGORY_LL);
  EXPECT_EQ(utf8proc_toupper(0xE9), 0xC9);
}

TEST(Dependencies, Z3ProvesThatAdditionWraps) {
  z3::context context;
  z3::solver solver(context);
  z3::expr x = context.bv_const("x", 8);
  solver.add(x + 1 < x);  // signed: true at 127 only
  ASSERT_EQ(solver.check(), z3::sat);
  EXPECT_EQ(solver.get_model().eval(x).get_numeral_int(), 127);
  solver.add(x != 127);
  EXPECT_EQ(solver.check(), z3::unsat);
}

TEST(Dependencies, MpfrRoundsToAnyPrecision) {
  mpfr_t x;
  mpfr_init2(x, 100);
  mpfr_set_d(x, 0.5, MPFR_RNDN);
  mpfr_exp2(x, x, MPFR_RNDN);
  mpfr_mul(x, x, x, MPFR_RNDN);
  mpfr_sub_ui(x, x, 2, MPFR_RNDN);
  EXPECT_LT(mpfr_get_d(x, MPFR_RNDA) * mpfr_get_d(x, MPFR_RNDA), 0x1p-190);
  mpfr_clear(x);
}

TEST(Dependencies, OpenClLoaderFindsADeviceForTheTests) {
  cl_uint count = 0;
  ASSERT_EQ(clGetPlatformIDs(0, nullptr, &count), CL_SUCCESS)
      << "no OpenCL platform: tools/setup.sh installs PoCL";
  std::vector<cl_platform_id> platforms(count);
  ASSERT_EQ(clGetPlatformIDs(count, platforms.data(), nullptr), CL_SUCCESS);
  cl_uint devices = 0;
  for (cl_platform_id platform : platforms) {
    cl_uint here = 0;
    if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &here) == CL_SUCCESS) {
      devices += here;
    }
  }
  EXPECT_GT(devices, 0u);
}

}  // namespace
}  // namespace tg::third_party
