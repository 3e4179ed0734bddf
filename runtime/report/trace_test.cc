#include "runtime/report/trace.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "llvm/Support/JSON.h"

namespace tg::runtime {
namespace {

class TraceTest : public ::testing::Test {
 protected:
  TraceTest() {
    report_.tool = "tg-run";
    report_.model = "model.uop";
    report_.devices.resize(1);
    report_.buffers = {{"x", "f32[8]", "input", "", 32}, {"t", "f32[8]", "temp", "", 32}};
    KernelReport a;
    a.name = "quote\"back\\slash\nend";
    a.global = {16, 4, 1};
    a.uses = {{0, true, false}, {1, false, true}};
    KernelReport b = a;
    b.name = "E_64";
    b.uses = {{1, true, true}};
    KernelReport empty = b;
    empty.name = "empty";
    report_.kernels = {a, b, empty};
    report_.memory = {.stored_bytes = 32, .live_by_kernel = {32, 48, 0}};
  }

  // The events with this "ph".
  std::vector<const llvm::json::Object*> Events(const Trace& trace, std::string_view phase) {
    llvm::Expected<llvm::json::Value> parsed = llvm::json::parse(trace.ToJson());
    EXPECT_TRUE(static_cast<bool>(parsed)) << llvm::toString(parsed.takeError());
    json_ = *std::move(parsed);
    std::vector<const llvm::json::Object*> found;
    for (const auto& event : *json_.getAsObject()->getArray("traceEvents")) {
      if (event.getAsObject()->getString("ph")->str() == phase) {
        found.push_back(event.getAsObject());
      }
    }
    return found;
  }
  static std::string Text(const llvm::json::Object* object, const char* key) {
    const auto text = object->getString(key);
    return text ? text->str() : "nothing";
  }

  RunReport report_;
  std::vector<std::string> rows_ = {"GPU"};
  std::vector<LaunchTimes> times_ = {
      {1000, 2000, 5000, 1005000}, {1500, 3000, 1006000, 1006500}, {0, 0, 0, 0}};
  llvm::json::Value json_ = nullptr;
};

TEST_F(TraceTest, KernelsAreOnTheHostsClock) {
  Trace trace(report_);
  trace.AddSpans(
      std::vector<Span>{{"passes", 5'000'000, 6'000'000}, {"run", 7'000'000, 9'000'000}});
  trace.AddRun(rows_, times_, 7'000'000, 9'000'000);
  const auto slices = Events(trace, "X");
  ASSERT_EQ(slices.size(), 4u);  // not the kernel that was not launched
  EXPECT_EQ(*slices[0]->getNumber("ts"), 0);
  EXPECT_EQ(*slices[0]->getNumber("dur"), 1000);
  EXPECT_EQ(Text(slices[0], "cat"), "host");
  EXPECT_EQ(Text(slices[2], "name"), report_.kernels[0].name);
  EXPECT_EQ(Text(slices[2], "cat"), "kernel");
  // It started 4 us after it was queued. It was queued when the run began, 2000 us after the first
  // span.
  EXPECT_EQ(*slices[2]->getNumber("ts"), 2004);
  EXPECT_EQ(*slices[2]->getNumber("dur"), 1000);
  EXPECT_EQ(*slices[3]->getNumber("ts"), 2000 + 1005);
  EXPECT_EQ(*slices[3]->getInteger("tid"), 2);
  const llvm::json::Object& args = *slices[2]->getObject("args");
  EXPECT_EQ(*(*args.getArray("global"))[0].getAsInteger(), 16);
  EXPECT_EQ((*args.getArray("reads"))[0].getAsString()->str(), "@x f32[8]");
  EXPECT_EQ((*args.getArray("writes"))[0].getAsString()->str(), "@t f32[8]");
}

TEST_F(TraceTest, KernelsHaveTheNodesOfTheModel) {
  report_.kernels[0].nodes = {"Conv 'c'", "Relu 'r'"};
  report_.kernels[0].tensors = {"t"};
  Trace trace(report_);
  trace.AddRun(rows_, times_, 7'000'000, 9'000'000);
  const auto slices = Events(trace, "X");
  const llvm::json::Object& args = *slices[0]->getObject("args");
  EXPECT_EQ((*args.getArray("nodes"))[1].getAsString()->str(), "Relu 'r'");
  EXPECT_EQ((*args.getArray("tensors"))[0].getAsString()->str(), "t");
  EXPECT_EQ(slices[1]->getObject("args")->getArray("nodes"), nullptr);
}

TEST_F(TraceTest, RowsAreNamedAndInOrder) {
  Trace trace(report_);
  trace.AddSpans(std::vector<Span>{{.name = "k", .start = 1, .end = 2, .row = "compiler 10"},
                                   {.name = "l", .start = 1, .end = 3, .row = "compiler 2"},
                                   {.name = "build", .start = 0, .end = 4}});
  trace.AddRun(rows_, times_, 5, 9);
  std::vector<std::string> names;
  for (const auto* event : Events(trace, "M")) {
    if (Text(event, "name") == "thread_sort_index") continue;
    names.push_back(Text(event->getObject("args"), "name"));
  }
  EXPECT_EQ(names, (std::vector<std::string>{"tg-run model.uop", "host", "compiler 2",
                                             "compiler 10", "GPU"}));
  EXPECT_EQ(Text(Events(trace, "X")[1], "cat"), "compile");
}

TEST_F(TraceTest, AnOuterSliceComesFirst) {
  Trace trace(report_);
  trace.AddSpans(std::vector<Span>{{.name = "inner", .start = 1, .end = 2, .is_detail = true},
                                   {.name = "upload", .start = 5, .end = 7, .buffer = "x"},
                                   {.name = "outer", .start = 1, .end = 3}});
  const auto slices = Events(trace, "X");
  ASSERT_EQ(slices.size(), 3u);
  EXPECT_EQ(Text(slices[0], "name"), "outer");
  EXPECT_EQ(Text(slices[1], "name"), "inner");
  EXPECT_EQ(Text(slices[2], "cat"), "transfer");
  EXPECT_EQ(Text(slices[2]->getObject("args"), "buffer"), "@x");
}

TEST_F(TraceTest, TimesHaveWholeNanoseconds) {
  Trace trace(report_);
  trace.AddSpans(
      std::vector<Span>{{"a", 0, 44'035'531'009}, {"b", 44'035'531'009, 44'035'531'010}});
  const std::string json = trace.ToJson();
  EXPECT_NE(json.find("\"ts\": 44035531.009,"), std::string::npos) << json;
  EXPECT_NE(json.find("\"dur\": 0.001"), std::string::npos) << json;
}

TEST_F(TraceTest, MemoryOverTime) {
  Trace trace(report_);
  trace.AddSpans(std::vector<Span>{{"run", 7'000'000, 9'000'000}});
  trace.AddRun(rows_, times_, 7'000'000, 9'000'000);
  std::vector<std::pair<double, int64_t>> temporaries;
  for (const auto* event : Events(trace, "C")) {
    const llvm::json::Object& args = *event->getObject("args");
    EXPECT_EQ(*args.getInteger("inputs, outputs, params, states"), 32);
    temporaries.emplace_back(*event->getNumber("ts"), *args.getInteger("temporaries"));
  }
  EXPECT_EQ(temporaries, (std::vector<std::pair<double, int64_t>>{{4, 32}, {1005, 48}, {2000, 0}}));
}

TEST(Spans, SumsLeaveOutDetails) {
  const SpanLog spans = {{"passes", 0, 5'000'000'000},
                         {.name = "lower", .start = 0, .end = 1, .is_detail = true},
                         {"passes", 0, 1'000'000'000}};
  const std::vector<SpanSum> sums = SumByName(spans);
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums[0].count, 2);
  EXPECT_EQ(sums[0].seconds, 6);
}

}  // namespace
}  // namespace tg::runtime
