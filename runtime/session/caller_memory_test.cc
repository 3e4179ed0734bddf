// Sessions on a context that the user has opened, with the user's memory.
#include <CL/cl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "ir/text/testing.h"
#include "runtime/devices/devices.h"
#include "runtime/opencl/testing.h"
#include "runtime/session/open.h"

namespace tg::runtime {
namespace {

// y = 2 x; z = y + w, to which each run adds x.
constexpr char kModel[] = R"(tg 1
module @user
buffer @x : f32[4, 8] input
buffer @w : f32[4, 8] state
buffer @y : f32[4, 8] output
buffer @z : f32[4, 8] output

graph @main {
  %x = buffer @x : f32
  %w = buffer @w : f32
  %0 = add %x, %x : f32
  %1 = add %w, %x : f32
  %2 = assign %w, %1 : f32
  %3 = add %0, %2 : f32
  sink %0 -> @y, %3 -> @z
}
)";
constexpr size_t kElements = 32;
constexpr int64_t kShape[] = {4, 8};

class CallerMemoryTest : public testing::Test {
 protected:
  void SetUp() override {
    OpenClHandles handles;
    handles.queue = mine_->queue();
    auto opened = AdoptContext(handles);
    ASSERT_TRUE(opened.ok()) << opened.status();
    OpenOptions options;
    options.devices.opened = *opened;
    auto session = OpenSession(ParseOrFail(kModel), options);
    ASSERT_TRUE(session.ok()) << session.status();
    session_ = *std::move(session);
  }
  ClMem NewBuffer(size_t bytes = kElements * sizeof(float)) {
    cl_int code = CL_SUCCESS;
    ClMem mem(clCreateBuffer(mine_->context(), CL_MEM_READ_WRITE, bytes, nullptr, &code));
    EXPECT_EQ(code, CL_SUCCESS);
    return mem;
  }
  void Write(const ClMem& mem, float value) {
    const std::vector<float> values(kElements, value);
    EXPECT_EQ(clEnqueueWriteBuffer(mine_->queue(), mem.get(), CL_TRUE, 0, kElements * sizeof(float),
                                   values.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
  }
  std::vector<float> Read(const ClMem& mem) {
    std::vector<float> values(kElements);
    EXPECT_EQ(clEnqueueReadBuffer(mine_->queue(), mem.get(), CL_TRUE, 0, kElements * sizeof(float),
                                  values.data(), 0, nullptr, nullptr),
              CL_SUCCESS);
    return values;
  }
  static DeviceHandle Handle(const ClMem& mem) { return {mem.get()}; }

  const std::shared_ptr<OpenClContext> mine_ = TestContext();
  std::unique_ptr<Session> session_;
};

TEST_F(CallerMemoryTest, IsUsedWhereItIs) {
  const ClMem x = NewBuffer(), y = NewBuffer(), w = NewBuffer(), z = NewBuffer();
  Write(w, 1);
  ASSERT_EQ(session_->Set("w", ElementType::kF32, kShape, Handle(w)), absl::OkStatus());
  ASSERT_EQ(session_->Lend("x", ElementType::kF32, kShape, Handle(x)), absl::OkStatus());
  ASSERT_EQ(session_->LendOutput("main", "y", Handle(y)), absl::OkStatus());
  ASSERT_EQ(session_->LendOutput("main", "z", Handle(z)), absl::OkStatus());
  float sum = 1;
  // One loan serves many runs.
  for (const float value : {3.0f, 5.0f, 7.0f}) {
    Write(x, value);
    ASSERT_EQ(session_->Run("main"), absl::OkStatus());
    sum += value;
    EXPECT_EQ(Read(y), std::vector<float>(kElements, 2 * value));
    EXPECT_EQ(Read(z), std::vector<float>(kElements, 2 * value + sum));
  }
  // What the graph writes is the session's own.
  EXPECT_EQ(Read(w), std::vector<float>(kElements, 1));
  session_->EndLoans();
  EXPECT_FALSE(session_->Run("main").ok());
}

// A state that is lent is copied: the graph writes it.
TEST_F(CallerMemoryTest, AStateIsCopied) {
  const ClMem x = NewBuffer(), w = NewBuffer(), y = NewBuffer();
  Write(w, 1);
  Write(x, 2);
  ASSERT_EQ(session_->Lend("w", ElementType::kF32, kShape, Handle(w)), absl::OkStatus());
  ASSERT_EQ(session_->Lend("x", ElementType::kF32, kShape, Handle(x)), absl::OkStatus());
  ASSERT_EQ(session_->Run("main"), absl::OkStatus());
  EXPECT_EQ(Read(w), std::vector<float>(kElements, 1));
  ASSERT_EQ(session_->GetInto("z", Handle(y)), absl::OkStatus());
  EXPECT_EQ(Read(y), std::vector<float>(kElements, 7));
}

TEST_F(CallerMemoryTest, WhatDoesNotFitIsAnError) {
  const ClMem small = NewBuffer(8), x = NewBuffer();
  const auto message = [](const absl::Status& status) { return std::string(status.message()); };
  EXPECT_EQ(message(session_->Lend("x", ElementType::kF32, kShape, Handle(small))),
            "@x: the cl_mem has 8 bytes, of 128");
  EXPECT_EQ(message(session_->Set("x", ElementType::kF32, kShape, Handle(small))),
            "@x: the cl_mem has 8 bytes, of 128");
  ASSERT_EQ(session_->Lend("x", ElementType::kF32, kShape, Handle(x)), absl::OkStatus());
  EXPECT_EQ(message(session_->LendOutput("main", "y", Handle(x))), "@y: its memory is that of @x");
  EXPECT_EQ(message(session_->LendOutput("main", "x", Handle(small))), "@x is no output");
  // Without a session on the same context.
  auto other = OpenSession(ParseOrFail(kModel), mine_->name());
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_EQ(message((*other)->Set("x", ElementType::kF32, kShape, Handle(x))),
            "@x: the cl_mem is one of another context than the session's");
  auto native = OpenSession(ParseOrFail(kModel), "native");
  ASSERT_TRUE(native.ok()) << native.status();
  EXPECT_NE(message((*native)->Set("x", ElementType::kF32, kShape, Handle(x))).find("no cl_mem"),
            std::string::npos);
}

}  // namespace
}  // namespace tg::runtime
