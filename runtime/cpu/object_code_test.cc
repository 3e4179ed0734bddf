#include "runtime/cpu/object_code.h"

#include <cstring>
#include <string>

#include "gtest/gtest.h"
#include "ir/testing/rng.h"
#include "runtime/cpu/code_generator.h"

namespace tg::cpu {
namespace {

// A function with constants behind it, a call of libc, and a global that it refers to.
constexpr char kText[] = R"(
@table = internal constant [4 x i32] [i32 1, i32 10, i32 100, i32 1000]
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define i32 @entry(ptr %to, ptr %from, i64 %n, i64 %i) {
  call void @llvm.memcpy.p0.p0.i64(ptr %to, ptr %from, i64 %n, i1 false)
  %p = getelementptr i32, ptr @table, i64 %i
  %x = load i32, ptr %p
  ret i32 %x
}
define <4 x float> @constants(<4 x float> %x) {
  %y = fadd <4 x float> %x, <float 1.0, float 2.0, float 3.0, float 4.0>
  ret <4 x float> %y
}
)";

std::string Object(const char* text) {
  const auto object = Compile(text, Output::kObject);
  EXPECT_TRUE(object.ok()) << object.status();
  return object.ok() ? *object : "";
}

TEST(ObjectCode, RunsWithItsConstantsAndLibc) {
  const auto code = ObjectCode::Load(Object(kText));
  ASSERT_TRUE(code.ok()) << code.status();
  const auto entry =
      reinterpret_cast<int (*)(void*, const void*, int64_t, int64_t)>((*code)->Find("entry"));
  ASSERT_NE(entry, nullptr);
  char to[100] = {}, from[100];
  std::memset(from, 7, sizeof from);
  EXPECT_EQ(entry(to, from, 99, 2), 100);
  EXPECT_EQ(std::memcmp(to, from, 99), 0);
  EXPECT_EQ(to[99], 0);
  using Four = float __attribute__((vector_size(16)));
  const auto constants = reinterpret_cast<Four (*)(Four)>((*code)->Find("constants"));
  ASSERT_NE(constants, nullptr);
  const Four sum = constants(Four{1, 1, 1, 1});
  for (int i = 0; i < 4; ++i) EXPECT_EQ(sum[i], static_cast<float>(i + 2));
  EXPECT_EQ((*code)->Find("table"), nullptr);  // not global
  EXPECT_EQ((*code)->Find("other"), nullptr);
}

TEST(ObjectCode, AnUnknownFunctionIsNamed) {
  const auto code =
      ObjectCode::Load(Object("declare void @missing()\n"
                              "define void @f() {\n  call void @missing()\n  ret void\n}\n"));
  EXPECT_EQ(code.status().message(), "machine code calls missing");
}

// Whatever the bytes are, loading ends with an error or with code that lies inside its memory.
TEST(ObjectCode, DamagedBytesAreErrors) {
  EXPECT_FALSE(ObjectCode::Load("").ok());
  EXPECT_FALSE(ObjectCode::Load("no object").ok());
  const std::string whole = Object(kText);
  for (size_t size = 0; size + 1 < whole.size(); size += 7) {
    EXPECT_FALSE(ObjectCode::Load(whole.substr(0, size)).ok()) << size;
  }
  testing::Rng rng(1);
  for (int i = 0; i < 20000; ++i) {
    std::string damaged = whole;
    for (int64_t k = 1 + rng.Below(3); k > 0; --k) {
      damaged[static_cast<size_t>(rng.Below(static_cast<int64_t>(whole.size())))] =
          static_cast<char>(rng.Below(256));
    }
    ObjectCode::Load(damaged).status().IgnoreError();
  }
}

TEST(CodeGenerator, AnErrorNamesTheLine) {
  const auto object = Compile("define void @f() {\n  nonsense\n}\n", Output::kObject);
  ASSERT_FALSE(object.ok());
  EXPECT_NE(std::string(object.status().message()).find("2:3: error"), std::string::npos)
      << object.status();
}

TEST(CodeGenerator, WritesAssembly) {
  const auto assembly = Compile("define i32 @f() {\n  ret i32 7\n}\n", Output::kAssembly);
  ASSERT_TRUE(assembly.ok()) << assembly.status();
  EXPECT_NE(assembly->find("movl\t$7, %eax"), std::string::npos) << *assembly;
}

}  // namespace
}  // namespace tg::cpu
