// Modules that are compiled into a file for a device, for tests of artifacts.
#ifndef TG_RUNTIME_ARTIFACT_ARTIFACT_TESTING_H_
#define TG_RUNTIME_ARTIFACT_ARTIFACT_TESTING_H_

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "gtest/gtest.h"
#include "ir/text/diagnostic.h"
#include "ir/text/parser.h"
#include "passes/pipeline.h"
#include "runtime/artifact/compile_artifact.h"
#include "runtime/artifact/format.h"
#include "runtime/artifact/open_artifact.h"
#include "runtime/io/file.h"
#include "runtime/session/choose_devices.h"
#include "runtime/session/open.h"
#include "runtime/session/open_devices.h"

namespace tg::artifact {

using runtime::HostTensor;

// @init computes @table from @w, and @main counts its runs.
inline constexpr char kModel[] = R"(tg 1
module @model
var @n : [1, 6]
buffer @w : f32[2] param = [4.0, 16.0]
buffer @table : f32[2] state
buffer @count : f32[] state = [3.0]
buffer @x : f32[@n, 2] input
buffer @y : f32[@n, 2] output

graph @main {
  %x = buffer @x : f32
  %n = var @n : index
  %table = buffer @table : f32
  %0 = reshape %table {shape = [1, 2]} : f32
  %1 = expand %0 {shape = [%n, 2]} : f32
  %2 = mul %x, %1 : f32
  %count = buffer @count : f32
  %3 = reshape %count {shape = [1, 1]} : f32
  %4 = expand %3 {shape = [%n, 2]} : f32
  %5 = add %2, %4 : f32
  %one = const 1.0 : f32
  %6 = add %count, %one : f32
  sink %5 -> @y, %6 -> @count
}

graph @init {
  %w = buffer @w : f32
  %0 = add %w, %w : f32
  sink %0 -> @table
}
)";

// @main runs @step @n times: the sum of the rows of @x, and each of the partial sums.
inline constexpr char kLoopModel[] = R"(tg 1
module @sums
var @n : [1, 6]
var @i : [0, 5]
buffer @x : f32[@n, 2] input
buffer @sum : f32[1, 2] temp
buffer @next : f32[1, 2] temp
buffer @all : f32[@n, 2] temp
buffer @y : f32[1, 2] output
buffer @z : f32[@n, 2] output

graph @step {
  %i = var @i : index
  %one = const 1 : index
  %i1 = add %i, %one : index
  %x = buffer @x : f32
  %row = shrink %x {ranges = [(%i, %i1), (0, 2)]} : f32
  %sum = buffer @sum : f32
  %0 = add %sum, %row : f32
  %next = buffer @next : f32
  %1 = assign %next, %0 : f32
  %all = buffer @all : f32
  %2 = shrink %all {ranges = [(%i, %i1), (0, 2)]} : f32
  %3 = assign %2, %0 : f32
  sink %1, %3
}

graph @main {
  %n = var @n : index
  %i = var @i : index
  %zero = const 0.0 : f32
  %0 = reshape %zero {shape = [1, 1]} : f32
  %1 = expand %0 {shape = [1, 2]} : f32
  %sum = buffer @sum : f32
  %2 = assign %sum, %1 : f32
  %next = buffer @next : f32
  %all = buffer @all : f32
  %3 = repeat @step(%n, %i, %2, %next, %all) {pairs = 1, writes = 1}
  %4 = assign %2, %3 : f32
  %5 = assign %all, %3 : f32
  sink %4 -> @y, %5 -> @z
}
)";

inline HostTensor Floats(std::vector<int64_t> shape, const std::vector<float>& values) {
  HostTensor tensor{runtime::ElementType::kF32, std::move(shape), {}};
  const auto bytes = std::as_bytes(std::span(values));
  tensor.data.assign(bytes.begin(), bytes.end());
  return tensor;
}

inline std::vector<float> Values(const HostTensor& tensor) {
  std::vector<float> values(tensor.data.size() / 4);
  std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  return values;
}

inline std::string Message(const absl::Status& status) { return std::string(status.message()); }

// Param: the device.
class ArtifactTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    for (char& c : name) c = c == '/' ? '-' : c;
    path_ = testing::TempDir() + "/" + name + ".tgx";
  }

  absl::Status Compile(const std::string& text, bool native_source = true,
                       bool external_weights = false) {
    Diagnostics diagnostics;
    std::unique_ptr<Module> module =
        ParseModule(text, testing::TempDir() + "/model.uop", diagnostics);
    if (module == nullptr) return diagnostics.ToStatus();
    TG_ASSIGN_OR_RETURN(const auto chosen, runtime::ChooseDevices(*module, {GetParam(), {}}));
    runtime::DeviceSessionOptions options;
    TG_RETURN_IF_ERROR(runtime::OpenDevices(*module, chosen, "", false, options));
    TG_RETURN_IF_ERROR(
        runtime::CompileForDevices(*module, passes::MakePipeline(passes::kPipeline), {}, options));
    return CompileArtifact(std::move(module), options,
                           {"artifact_test",
                            "model.uop",
                            native_source,
                            external_weights,
                            {MakeAttachment("a note", "some text")}},
                           path_);
  }

  std::string path_;
};

}  // namespace tg::artifact

#endif  // TG_RUNTIME_ARTIFACT_ARTIFACT_TESTING_H_
