#include "runtime/plan/launch_order.h"

#include <gtest/gtest.h>

#include <string>

#include "ir/text/testing.h"
#include "runtime/plan/testing.h"

namespace tg::runtime {
namespace {

constexpr char kHead[] = R"(tg 1
module @m
var @n : [1, 8]
buffer @x : f32[8] input
buffer @t : f32[8] temp
buffer @u : f32[8] temp
buffer @y : f32[8] output
)";
// These kernels are only looked up by name.
constexpr char kKernels[] = R"(
kernel @a : kernel {
  sink
}
kernel @b : kernel {
  sink
}
kernel @c : kernel {
  sink
}
)";

// Returns a text like "a(t, x) b(y, t; n)": kernels in order, with buffers and variables.
std::string Describe(const Module& module, const std::vector<ScheduledKernel>& schedule) {
  std::string text;
  for (const ScheduledKernel& item : schedule) {
    text += (text.empty() ? "" : " ") +
            (item.is_copy() ? "copy" : module.kernels[static_cast<size_t>(item.kernel)]->name) +
            "(";
    for (size_t i = 0; i < item.buffers.size(); ++i) {
      const BufferSlice& slice = item.buffers[i];
      text += (i ? ", " : "") + module.buffers[static_cast<size_t>(slice.buffer)].name;
      if (slice.offset != 0 || slice.size >= 0) {
        text += "[" + std::to_string(slice.offset) + "+" + std::to_string(slice.size) + "]";
      }
    }
    for (const VarUse& var : item.vars) {
      text += "; " + var.name + (var.bound ? "=" + std::to_string(*var.bound) : "");
    }
    text += ")";
  }
  return text;
}

std::string Schedule(const std::string& graph) {
  const std::unique_ptr<Module> module =
      ParseOrFail(std::string(kHead) + "graph @main {\n" + graph + "}\n" + kKernels);
  if (module == nullptr) return "";
  const auto schedule = MakeSchedule(*module, *module->graphs[0]);
  return schedule.ok() ? Describe(*module, *schedule) : std::string(schedule.status().message());
}

TEST(Schedule, OperandsComeFirst) {
  EXPECT_EQ(Schedule(CallsText("a t: x, b y: t")), "a(t, x) b(y, t)");
}

TEST(Schedule, KernelNamedTwiceRunsOnce) {
  EXPECT_EQ(Schedule(CallsText("a t u: x, b y: u t")), "a(t, u, x) b(y, u, t)");
}

// The ordering sources of an assign run before its kernel, which is an earlier source.
TEST(Schedule, OrderingSourcesComeBeforeTheKernel) {
  EXPECT_EQ(Schedule(R"(
  %x = buffer @x : f32
  %t = buffer @t : f32
  %y = buffer @y : f32
  %reads_x = kernel @b(%t, %x)
  %t1 = assign %t, %reads_x : f32
  %overwrites_x = kernel @a(%x, %y)
  %x1 = assign %x, %overwrites_x, %t1 : f32
  sink %x1
)"),
            "b(t, x) a(x, y)");
}

TEST(Schedule, ViewsAndVariables) {
  EXPECT_EQ(Schedule(R"(
  %x = buffer @x : f32
  %v = buffer_view %x {offset = 2, size = 6} : f32
  %w = buffer_view %v {offset = 1, size = 3} : f32
  %y = buffer @y : f32
  %n = var @n : index
  %five = const 5 : index
  %bound = bind %n, %five : index
  %k = kernel @a(%y, %w, %n)
  %y1 = assign %y, %k : f32
  %l = kernel @b(%y1, %v, %bound)
  %y2 = assign %y1, %l : f32
  sink %y2
)"),
            "a(y, x[3+3]; n) b(y, x[2+6]; n=5)");
}

TEST(Schedule, MovedTargetIsTheWholeBuffer) {
  EXPECT_EQ(Schedule(R"(
  %x = buffer @x : f32
  %y = buffer @y : f32
  %part = shrink %y {ranges = [(0, 4)]} : f32
  %k = kernel @a(%part, %x)
  %y1 = assign %part, %k : f32
  sink %y1
)"),
            "a(y, x)");
}

TEST(Schedule, NotKernelized) {
  EXPECT_EQ(Schedule(R"(
  %x = buffer @x : f32
  %0 = neg %x : f32
  sink %0 -> @y
)"),
            "graph @main, line 11: a plan cannot execute neg; the graph has not been through "
            "kernelize");
  EXPECT_EQ(Schedule(R"(
  %x = buffer @x : f32
  sink %x -> @y
)"),
            "graph @main, line 11: the sink writes to @y; the graph has not been through "
            "kernelize");
  EXPECT_EQ(Schedule(R"(
  %x = buffer @x : f32
  %y = buffer @y : f32
  %y1 = assign %y, %x : f32
  sink %y1
)"),
            "graph @main, line 12: the value that is assigned comes from buffer, not from a "
            "kernel; the graph has not been through kernelize");
}

TEST(Schedule, CopyBetweenDevices) {
  EXPECT_EQ(Schedule(R"(
  %x = buffer @x : f32
  %c = copy %x {device = "gpu"} : f32
  %y = buffer @y : f32
  %y1 = assign %y, %c : f32
  sink %y1
)"),
            "copy(y, x)");
  // The copy is ordered like an assign: @x is overwritten after it.
  EXPECT_EQ(Schedule(R"(
  %t = buffer @t : f32
  %x = buffer @x : f32
  %c = copy %x {device = "gpu"} : f32
  %t1 = assign %t, %c : f32
  %u = buffer @u : f32
  %k = kernel @a(%x, %u)
  %x1 = assign %x, %k, %t1 : f32
  sink %x1
)"),
            "copy(t, x) a(x, u)");
  EXPECT_EQ(Schedule(R"(
  %x = buffer @x : f32
  %0 = flip %x {axes = [0]} : f32
  %c = copy %0 {device = "gpu"} : f32
  %y = buffer @y : f32
  %y1 = assign %y, %c : f32
  sink %y1
)"),
            "graph @main, line 14: a copy takes a whole buffer to another, not a flip of one; the "
            "graph has not been through kernelize");
}

TEST(Schedule, ContradictoryOrder) {
  EXPECT_EQ(Schedule(R"(
  %x = buffer @x : f32
  %t = buffer @t : f32
  %u = buffer @u : f32
  %k = kernel @a(%t, %u, %x)
  %t1 = assign %t, %k : f32
  %u1 = assign %u, %k, %t1 : f32
  sink %u1
)"),
            "graph @main, line 13: kernel must happen both before and after the kernel that it "
            "belongs to");
}

}  // namespace
}  // namespace tg::runtime
