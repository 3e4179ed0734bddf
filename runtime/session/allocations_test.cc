// A run like the one before allocates nothing. The hooks below count every allocation of the
// process, by whatever thread.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "ir/text/diagnostic.h"
#include "ir/text/parser.h"
#include "runtime/session/device_session.h"
#include "runtime/session/open.h"

// Sanitizers bring their own malloc.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TG_COUNTS_MALLOC 0
#else
#define TG_COUNTS_MALLOC 1
#endif

namespace {

std::atomic<bool> counting = false;
std::atomic<int> mallocs = 0, news = 0;

void Count(std::atomic<int>& calls) {
  if (counting.load(std::memory_order_relaxed)) ++calls;
}

}  // namespace

#if TG_COUNTS_MALLOC
extern "C" {
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) {
  Count(mallocs);
  return __libc_malloc(size);
}
void* calloc(size_t count, size_t size) {
  Count(mallocs);
  return __libc_calloc(count, size);
}
void* realloc(void* old, size_t size) {
  Count(mallocs);
  return __libc_realloc(old, size);
}
void* memalign(size_t alignment, size_t size) {
  Count(mallocs);
  return __libc_memalign(alignment, size);
}
void* aligned_alloc(size_t alignment, size_t size) {
  Count(mallocs);
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** out, size_t alignment, size_t size) {
  Count(mallocs);
  *out = __libc_memalign(alignment, size);
  return *out == nullptr ? 12 : 0;
}
}
#endif

void* operator new(size_t size) {
  Count(news);
  void* memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) std::abort();
  return memory;
}
// Where these are inlined, GCC sees memory of `new` freed, and warns.
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, size_t) noexcept { std::free(memory); }

namespace tg::runtime {
namespace {

// Attention and a product: several kernels, temporaries, groups with memory.
constexpr char kModel[] = R"(tg 1
module @attention
buffer @the_first_input_of_the_model : f32[96, 64] input
buffer @w : f32[64, 96] param
buffer @v : f32[64, 64] param
buffer @a_result_with_a_long_name : f32[96, 64] output

graph @main {
  %x = buffer @the_first_input_of_the_model : f32
  %w = buffer @w : f32
  %0 = reshape %x {shape = [96, 1, 64]} : f32
  %1 = expand %0 {shape = [96, 96, 64]} : f32
  %2 = permute %w {axes = [1, 0]} : f32
  %3 = reshape %2 {shape = [1, 96, 64]} : f32
  %4 = expand %3 {shape = [96, 96, 64]} : f32
  %5 = mul %1, %4 : f32
  %6 = reduce_axis %5 {op = add, axes = [2]} : f32
  %7 = reshape %6 {shape = [96, 96]} : f32
  %8 = reduce_axis %7 {op = max, axes = [1]} : f32
  %9 = expand %8 {shape = [96, 96]} : f32
  %10 = sub %7, %9 : f32
  %11 = exp2 %10 : f32
  %12 = reduce_axis %11 {op = add, axes = [1]} : f32
  %13 = expand %12 {shape = [96, 96]} : f32
  %14 = div %11, %13 : f32
  %15 = reshape %14 {shape = [96, 96, 1]} : f32
  %16 = expand %15 {shape = [96, 96, 64]} : f32
  %17 = reshape %x {shape = [1, 96, 64]} : f32
  %18 = expand %17 {shape = [96, 96, 64]} : f32
  %19 = mul %16, %18 : f32
  %20 = reduce_axis %19 {op = add, axes = [1]} : f32
  %21 = reshape %20 {shape = [96, 64]} : f32
  %v = buffer @v : f32
  %22 = reshape %21 {shape = [96, 64, 1]} : f32
  %23 = expand %22 {shape = [96, 64, 64]} : f32
  %24 = reshape %v {shape = [1, 64, 64]} : f32
  %25 = expand %24 {shape = [96, 64, 64]} : f32
  %26 = mul %23, %25 : f32
  %27 = reduce_axis %26 {op = add, axes = [1]} : f32
  %28 = reshape %27 {shape = [96, 64]} : f32
  sink %28 -> @a_result_with_a_long_name
}
)";

HostTensor Made(std::vector<int64_t> shape, float first) {
  HostTensor tensor = *MakeHostTensor(ElementType::kF32, std::move(shape));
  auto* values = reinterpret_cast<float*>(tensor.data.data());
  for (size_t i = 0; i < tensor.data.size() / 4; ++i) {
    values[i] = first + static_cast<float>(i % 17) * 0.01f;
  }
  return tensor;
}

std::unique_ptr<Session> Open(const char* device) {
  Diagnostics diagnostics;
  std::unique_ptr<Module> module = ParseModule(kModel, "model.uop", diagnostics);
  EXPECT_TRUE(module != nullptr) << diagnostics.ToString();
  absl::StatusOr<std::unique_ptr<Session>> opened = OpenSession(std::move(module), device);
  EXPECT_TRUE(opened.ok()) << opened.status();
  if (!opened.ok()) return nullptr;
  EXPECT_TRUE((*opened)->Set("v", Made({64, 64}, 0.125f)).ok());
  return *std::move(opened);
}

constexpr char kInput[] = "the_first_input_of_the_model", kOutput[] = "a_result_with_a_long_name";

class Allocations : public testing::TestWithParam<const char*> {};

TEST_P(Allocations, TheSecondRunMakesNone) {
  const std::unique_ptr<Session> session = Open(GetParam());
  ASSERT_NE(session, nullptr);
  ASSERT_TRUE(session->Set("w", Made({64, 96}, 0.25f)).ok());
  const HostTensor inputs[] = {Made({96, 64}, 1), Made({96, 64}, -2), Made({96, 64}, 3)};
  HostTensor results[3];
  const auto run = [&](size_t i) {
    return session->Set(kInput, inputs[i]).ok() && session->Run().ok() &&
           session->GetInto(kOutput, results[i]).ok();
  };
  for (size_t i = 0; i < 3; ++i) results[i] = Made({96, 64}, 0);
  ASSERT_TRUE(run(0));
  const auto& plan = *static_cast<DeviceSession&>(*session).last_plan();
  EXPECT_GT(plan.kernels().size(), 1u);
  EXPECT_GT(plan.temporaries().planned_bytes, 0u);
  mallocs = news = 0;
  counting = true;
  bool ran = run(1);
  for (int i = 0; i < 50; ++i) ran = ran && run(2);
  counting = false;
  EXPECT_TRUE(ran);
  EXPECT_EQ(news, 0);
  // A driver of OpenCL allocates for its commands.
  EXPECT_TRUE(mallocs == 0 || GetParam() == std::string_view("pocl")) << mallocs;
  // The hooks count, and the runs were right.
  counting = true;
  const absl::StatusOr<HostTensor> again = session->Get(kOutput);
  counting = false;
  EXPECT_GT(news, 0);
  EXPECT_EQ(mallocs > 0, TG_COUNTS_MALLOC != 0);
  ASSERT_TRUE(again.ok());
  EXPECT_EQ(*again, results[2]);
  const std::unique_ptr<Session> reference = Open("reference");
  ASSERT_TRUE(reference->Set("w", Made({64, 96}, 0.25f)).ok());
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_TRUE(reference->Set(kInput, inputs[i]).ok() && reference->Run().ok());
    const HostTensor right = *reference->Get(kOutput);
    const auto* a = reinterpret_cast<const float*>(right.data.data());
    const auto* b = reinterpret_cast<const float*>(results[i].data.data());
    for (size_t k = 0; k < right.data.size() / 4; ++k) ASSERT_NEAR(a[k], b[k], 1e-3) << i;
  }
}

// What a run depends on is looked at again when it changes.
TEST_P(Allocations, ChangesAreSeen) {
  const std::unique_ptr<Session> session = Open(GetParam());
  ASSERT_NE(session, nullptr);
  const HostTensor input = Made({96, 64}, 1);
  ASSERT_TRUE(session->Set("w", Made({64, 96}, 0)).ok());
  ASSERT_TRUE(session->Set(kInput, input).ok());
  ASSERT_TRUE(session->Run().ok() && session->Run().ok());
  HostTensor first = *session->Get(kOutput), second;
  ASSERT_TRUE(session->Set("w", Made({64, 96}, 5)).ok());
  ASSERT_TRUE(session->Run().ok());
  ASSERT_TRUE(session->GetInto(kOutput, second).ok());
  EXPECT_NE(first.data, second.data);
  EXPECT_FALSE(session->Set(kInput, Made({96, 32}, 1)).ok());
  const absl::Status few = session->Set(kInput, ElementType::kF32, std::vector<int64_t>{96, 64},
                                        std::span(input.data).first(8));
  EXPECT_EQ(few.message(), "@the_first_input_of_the_model: 8 bytes are given for f32[96, 64]");
}

INSTANTIATE_TEST_SUITE_P(Devices, Allocations, testing::Values("native", "pocl"));

}  // namespace
}  // namespace tg::runtime
