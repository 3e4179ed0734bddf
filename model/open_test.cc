#include "model/open.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "runtime/io/file.h"
#include "runtime/io/host_tensor.h"

namespace tg::model {
namespace {

using runtime::HostTensor;
using runtime::Session;

// y = 2 x - w, w in the module.
constexpr char kModule[] = R"(tg 1
module @affine
buffer @x : f32[2] input
buffer @w : f32[2] param = [3.0, 5.0]
buffer @y : f32[2] output

graph @main {
  %x = buffer @x : f32
  %w = buffer @w : f32
  %0 = add %x, %x : f32
  %1 = sub %0, %w : f32
  sink %1 -> @y
}
)";
constexpr char kConcat[] = "frontend/onnx/corpus/concat_1d_axis_0.onnx";

std::string Temporary(const std::string& name) {
  return std::string(std::getenv("TEST_TMPDIR")) + "/" + name;
}

std::string Write(const std::string& name, std::string_view text) {
  const std::string path = Temporary(name);
  std::FILE* file = std::fopen(path.c_str(), "w");
  EXPECT_NE(file, nullptr);
  std::fwrite(text.data(), 1, text.size(), file);
  std::fclose(file);
  return path;
}

HostTensor Floats(const std::vector<float>& values) {
  HostTensor tensor{runtime::ElementType::kF32, {static_cast<int64_t>(values.size())}, {}};
  tensor.data.resize(values.size() * sizeof(float));
  std::memcpy(tensor.data.data(), values.data(), tensor.data.size());
  return tensor;
}

std::vector<float> Values(const absl::StatusOr<HostTensor>& tensor) {
  EXPECT_TRUE(tensor.ok()) << tensor.status();
  if (!tensor.ok()) return {};
  std::vector<float> values(tensor->data.size() / sizeof(float));
  std::memcpy(values.data(), tensor->data.data(), tensor->data.size());
  return values;
}

std::string Message(const absl::Status& status) { return std::string(status.message()); }

void ExpectAffine(Session& session) {
  ASSERT_EQ(session.Set("x", Floats({2, 4})), absl::OkStatus());
  ASSERT_EQ(session.Run(), absl::OkStatus());
  EXPECT_EQ(Values(session.Get("y")), (std::vector<float>{1, 3}));
}

TEST(OpenSession, AModuleAndWhatItIsCompiledTo) {
  const std::string path = Write("affine.uop", kModule);
  for (const char* device : {"reference", "native"}) {
    const auto session = OpenSession(path, device);
    ASSERT_TRUE(session.ok()) << session.status();
    ExpectAffine(**session);
  }
  const std::string output = Temporary("affine.tgx");
  const auto source = Source::File(path);
  ASSERT_TRUE(source.ok()) << source.status();
  ASSERT_EQ(Compile(*source, OpenOptions("native"), "a test", output), absl::OkStatus());
  const auto session = OpenSession(output);
  ASSERT_TRUE(session.ok()) << session.status();
  ExpectAffine(**session);
}

TEST(OpenSession, AnOnnxModel) {
  for (const char* device : {"reference", "native"}) {
    const auto session = OpenSession(kConcat, device);
    ASSERT_TRUE(session.ok()) << session.status();
    std::vector<std::string> outputs;
    std::vector<float> expected;
    for (const BufferDecl& buffer : (*session)->declarations().buffers) {
      if (buffer.role == Role::kOutput) outputs.push_back(buffer.name);
      if (buffer.role != Role::kInput) continue;
      const float first = static_cast<float>(expected.size());
      ASSERT_EQ((*session)->Set(buffer.name, Floats({first, first + 1})), absl::OkStatus());
      expected.insert(expected.end(), {first, first + 1});
    }
    ASSERT_EQ(expected.size(), 4u);
    ASSERT_EQ((*session)->Run(), absl::OkStatus());
    EXPECT_EQ(Values((*session)->Get(outputs.at(0))), expected);
  }
}

TEST(Open, TellsTheNamesOfAnOnnxModel) {
  const auto source = Source::File(kConcat);
  ASSERT_TRUE(source.ok()) << source.status();
  const auto open = Open(*source, OpenOptions("native"));
  ASSERT_TRUE(open.ok()) << open.status();
  EXPECT_NE(open->device, nullptr);
  EXPECT_EQ(open->graphs, (std::vector<std::string>{"main"}));
  EXPECT_EQ(open->names.size(), 3u);
  for (const auto& [symbol, name] : open->names) {
    EXPECT_NE(open->declarations.FindBuffer(symbol), nullptr) << name;
  }
}

TEST(Open, BytesWithoutAFile) {
  for (const auto& [bytes, is_onnx] : {std::pair(std::string(kModule), false),
                                       std::pair(runtime::ReadFile(kConcat).value(), true)}) {
    const auto source = Source::Bytes(bytes, "");
    ASSERT_TRUE(source.ok()) << source.status();
    auto open = Open(*source, OpenOptions("native"));
    ASSERT_TRUE(open.ok()) << open.status();
    EXPECT_EQ(open->names.empty(), !is_onnx);
    if (!is_onnx) ExpectAffine(*open->session);
  }
}

TEST(OpenSession, WhatIsWrongIsOneError) {
  const std::string path = Write("wrong.uop", kModule);
  EXPECT_NE(Message(OpenSession(path, "nonsense").status()).find("nonsense"), std::string::npos);
  EXPECT_NE(Message(OpenSession(path + "x").status()).find("wrong.uopx"), std::string::npos);
  OpenOptions sized("native");
  sized.read.onnx.sizes["n"] = 3;
  EXPECT_NE(Message(OpenSession(path, sized).status()).find("are for ONNX models"),
            std::string::npos);
  EXPECT_EQ(Message(OpenSession(kConcat, sized).status()),
            "size n: the model has no open dimension");
  const std::string damaged = Write("damaged.onnx", "this is no model");
  EXPECT_NE(Message(OpenSession(damaged, "native").status()).find("damaged.onnx"),
            std::string::npos);

  const auto source = Source::File(path);
  ASSERT_TRUE(source.ok()) << source.status();
  const std::string output = Temporary("wrong.tgx");
  ASSERT_EQ(Compile(*source, OpenOptions("native"), "a test", output), absl::OkStatus());
  EXPECT_NE(Message(OpenSession(output, "reference").status()).find("is compiled"),
            std::string::npos);
  EXPECT_NE(Message(OpenSession(output, sized).status()).find("sizes need the model"),
            std::string::npos);
  OpenOptions half("native");
  half.float16 = true;
  EXPECT_NE(Message(OpenSession(output, half).status()).find("need the model"), std::string::npos);
  EXPECT_NE(Message(Compile(*Source::File(output), half, "a test", output)).find("already"),
            std::string::npos);
}

TEST(Open, TheStepsAreSeen) {
  const auto source = Source::Bytes(kModule, "affine.uop");
  ASSERT_TRUE(source.ok()) << source.status();
  std::vector<std::string> steps;
  OpenOptions options("native");
  options.on_devices = [&](runtime::DeviceSessionOptions& session) {
    steps.push_back(session.context->info().is_native ? "native" : "another");
    return absl::OkStatus();
  };
  options.on_compiled = [&](const Module& module, runtime::DeviceSessionOptions&) {
    steps.push_back(module.name);
    return absl::CancelledError("enough");
  };
  EXPECT_EQ(Message(Open(*source, options).status()), "enough");
  EXPECT_EQ(steps, (std::vector<std::string>{"native", "affine"}));
}

}  // namespace
}  // namespace tg::model
