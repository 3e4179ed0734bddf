// Modules through a file and back: the values that come out, and files that are not what was
// written.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <random>

#include "base/status.h"
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
namespace {

using runtime::HostTensor;

// @init computes @table from @w, and @main counts its runs.
constexpr char kModel[] = R"(tg 1
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

HostTensor Floats(std::vector<int64_t> shape, const std::vector<float>& values) {
  HostTensor tensor{runtime::ElementType::kF32, std::move(shape), {}};
  const auto bytes = std::as_bytes(std::span(values));
  tensor.data.assign(bytes.begin(), bytes.end());
  return tensor;
}

std::vector<float> Values(const HostTensor& tensor) {
  std::vector<float> values(tensor.data.size() / 4);
  std::memcpy(values.data(), tensor.data.data(), tensor.data.size());
  return values;
}

std::string Message(const absl::Status& status) { return std::string(status.message()); }

// Param: the device.
class ArtifactTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    std::string name = testing::UnitTest::GetInstance()->current_test_info()->name();
    for (char& c : name) c = c == '/' ? '-' : c;
    path_ = testing::TempDir() + "/" + name + ".tgx";
  }

  absl::Status Compile(const std::string& text, bool native_source = true) {
    Diagnostics diagnostics;
    std::unique_ptr<Module> module = ParseModule(text, "model.uop", diagnostics);
    if (module == nullptr) return diagnostics.ToStatus();
    TG_ASSIGN_OR_RETURN(const auto chosen, runtime::ChooseDevices(*module, {GetParam(), {}}));
    runtime::DeviceSessionOptions options;
    TG_RETURN_IF_ERROR(runtime::OpenDevices(*module, chosen, "", false, options));
    TG_RETURN_IF_ERROR(
        runtime::CompileForDevices(*module, passes::MakePipeline(passes::kPipeline), {}, options));
    return CompileArtifact(std::move(module), options,
                           {"artifact_test", "model.uop", native_source}, path_);
  }

  std::string path_;
};

TEST_P(ArtifactTest, RunsAsTheModule) {
  ASSERT_EQ(Compile(kModel), absl::OkStatus());
  const auto opened = OpenArtifact(path_);
  ASSERT_TRUE(opened.ok()) << opened.status();
  runtime::DeviceSession& session = **opened;
  // @init has run: its result is a constant, and the param is not there any more.
  EXPECT_EQ(FindGraph(session.executable(), kInitGraph), nullptr);
  EXPECT_EQ(session.declarations().FindBuffer("table")->role, Role::kParam);
  EXPECT_EQ(Message(session.Run()), "graph @main needs what is not given: input @x (f32[@n, 2])");
  ASSERT_TRUE(session.Set("x", Floats({1, 2}, {1, 2})).ok());
  ASSERT_EQ(session.Run(), absl::OkStatus());
  EXPECT_EQ(Values(*session.Get("y")), (std::vector<float>{11, 67}));
  ASSERT_TRUE(session.Set("x", Floats({2, 2}, {1, 2, 3, 4})).ok());
  ASSERT_EQ(session.Run(), absl::OkStatus());
  EXPECT_EQ(Values(*session.Get("y")), (std::vector<float>{12, 68, 28, 132}));
  EXPECT_EQ(Values(*session.Get("count")), (std::vector<float>{5}));
  EXPECT_EQ(Message(session.Set("table", Floats({2}, {0, 0}))),
            "@table is no input but param with contents of its own");
}

// The way in for modules takes compiled models too.
TEST_P(ArtifactTest, IsOpenedByItsPath) {
  ASSERT_EQ(Compile(kModel), absl::OkStatus());
  const auto session = runtime::OpenSession(path_);
  ASSERT_TRUE(session.ok()) << session.status();
  ASSERT_TRUE((*session)->Set("x", Floats({1, 2}, {1, 2})).ok());
  ASSERT_EQ((*session)->Run(), absl::OkStatus());
  EXPECT_EQ(Values(*(*session)->Get("y")), (std::vector<float>{11, 67}));
  EXPECT_NE(Message(runtime::OpenSession(path_, "reference").status()).find("is compiled"),
            std::string::npos);
}

// Another start of the same file gets the contents that were written: states are copies.
TEST_P(ArtifactTest, RunsChangeNoFile) {
  ASSERT_EQ(Compile(kModel), absl::OkStatus());
  for (int start = 0; start < 2; ++start) {
    const auto opened = OpenArtifact(path_);
    ASSERT_TRUE(opened.ok()) << opened.status();
    ASSERT_TRUE((*opened)->Set("x", Floats({1, 2}, {1, 2})).ok());
    ASSERT_EQ((*opened)->Run("main", 3), absl::OkStatus());
    EXPECT_EQ(Values(*(*opened)->Get("count")), (std::vector<float>{6}));
  }
  const auto file = ArtifactFile::Open(path_);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->VerifyContents(), absl::OkStatus());
}

// A param that is not known keeps @init, which runs at the start.
TEST_P(ArtifactTest, InitStaysWhereAParamIsOpen) {
  std::string text = kModel;
  const std::string known = " param = [4.0, 16.0]";
  text.replace(text.find(known), known.size(), " param");
  ASSERT_EQ(Compile(text), absl::OkStatus());
  const auto opened = OpenArtifact(path_);
  ASSERT_TRUE(opened.ok()) << opened.status();
  runtime::DeviceSession& session = **opened;
  ASSERT_TRUE(session.Set("x", Floats({1, 2}, {1, 2})).ok());
  EXPECT_EQ(Message(session.Run()), "graph @main needs what is not given: param @w (f32[2])");
  ASSERT_TRUE(session.Set("w", Floats({2}, {1, 2})).ok());
  ASSERT_EQ(session.Run(), absl::OkStatus());
  EXPECT_EQ(Values(*session.Get("y")), (std::vector<float>{5, 11}));
}

TEST_P(ArtifactTest, PlanIsReadAsItWasWritten) {
  ASSERT_EQ(Compile(kModel), absl::OkStatus());
  const auto file = ArtifactFile::Open(path_);
  ASSERT_TRUE(file.ok()) << file.status();
  const std::string plan = EncodePlan(file->artifact());
  const auto again = DecodePlan(plan, kPageBytes, 1 << 20);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(EncodePlan(*again), plan);
}

// Machine code of another processor or driver is not run: the source is compiled.
TEST_P(ArtifactTest, OtherDevicesCompileTheSource) {
  ASSERT_EQ(Compile(kModel), absl::OkStatus());
  auto file = ArtifactFile::Open(path_);
  ASSERT_TRUE(file.ok()) << file.status();
  file->artifact().made_for[0].key += " of another kind";
  for (auto& kernel : file->artifact().executable.devices[0].kernels) {
    if (!kernel.object.empty()) kernel.object = "no object file";
  }
  for (auto& program : file->artifact().executable.devices[0].programs)
    program.binary = "no binary";
  std::string note;
  ArtifactOptions options;
  options.note = [&](const std::string& text) { note = text; };
  const auto opened = OpenArtifact(*std::move(file), options);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_NE(note.find("it is compiled again for"), std::string::npos) << note;
  ASSERT_TRUE((*opened)->Set("x", Floats({1, 2}, {1, 2})).ok());
  ASSERT_EQ((*opened)->Run(), absl::OkStatus());
  EXPECT_EQ(Values(*(*opened)->Get("y")), (std::vector<float>{11, 67}));
}

TEST_P(ArtifactTest, NativeCodeWithoutSource) {
  if (GetParam() != std::string_view("native")) GTEST_SKIP() << "OpenCL's source is always stored";
  ASSERT_EQ(Compile(kModel, /*native_source=*/false), absl::OkStatus());
  const auto opened = OpenArtifact(path_);
  ASSERT_TRUE(opened.ok()) << opened.status();
  ASSERT_TRUE((*opened)->Set("x", Floats({1, 2}, {1, 2})).ok());
  ASSERT_EQ((*opened)->Run(), absl::OkStatus());
  EXPECT_EQ(Values(*(*opened)->Get("y")), (std::vector<float>{11, 67}));
  auto file = ArtifactFile::Open(path_);
  ASSERT_TRUE(file.ok()) << file.status();
  file->artifact().made_for[0].key += " of another kind";
  EXPECT_NE(Message(OpenArtifact(*std::move(file), {}).status()).find("and no source"),
            std::string::npos);
}

TEST_P(ArtifactTest, DamagedFilesAreOneClearError) {
  ASSERT_EQ(Compile(kModel), absl::OkStatus());
  const std::string bytes = *runtime::ReadFile(path_);
  const auto error = [&](const std::string& changed) {
    const auto read = ArtifactFile::Read(nullptr, changed, "m.tgx");
    return read.ok() ? "" : Message(read.status());
  };
  const auto with = [&](size_t at, uint32_t value) {
    std::string changed = bytes;
    std::memcpy(changed.data() + at, &value, sizeof value);
    return changed;
  };
  EXPECT_EQ(error(bytes), "");
  EXPECT_EQ(error(""), "m.tgx: it is no .tgx file");
  EXPECT_EQ(error(bytes.substr(0, 40)), "m.tgx: it ends at byte 40, within its head");
  EXPECT_EQ(error(with(offsetof(Header, version), 7)),
            "m.tgx: its format has version 7, and this program reads 1; compile the model again");
  EXPECT_EQ(error(with(offsetof(Header, plan_offset), 7)),
            "m.tgx: its head, bytes 0 to 72, is damaged");
  EXPECT_NE(error(bytes.substr(0, bytes.size() - 1)).find("it was cut off"), std::string::npos);
  EXPECT_NE(error(bytes + "x").find("it was cut off"), std::string::npos);
  std::string changed = bytes;
  changed[bytes.size() - 9] ^= 1;
  EXPECT_NE(error(changed).find("is damaged"), std::string::npos);
  // Weights are not read at a start, and checked on request.
  changed = bytes;
  changed[kPageBytes] ^= 1;
  const auto file = ArtifactFile::Read(nullptr, changed, "m.tgx");
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_NE(Message(file->VerifyContents()).find("are damaged"), std::string::npos);
}

// What the checksums do not catch, because they are right, the checks of the plan do.
TEST_P(ArtifactTest, WrongPlansAreErrors) {
  ASSERT_EQ(Compile(kModel), absl::OkStatus());
  const auto file = ArtifactFile::Open(path_);
  ASSERT_TRUE(file.ok()) << file.status();
  const auto error = [&](const std::function<void(Artifact&)>& change) {
    Artifact changed = file->artifact();
    change(changed);
    return Message(DecodePlan(EncodePlan(std::move(changed)), kPageBytes, 1 << 20).status());
  };
  EXPECT_EQ(error([](Artifact&) {}), "");
  EXPECT_EQ(error([](Artifact& a) { a.executable.buffers[1].name = "w"; }),
            "two buffers are named @w");
  EXPECT_EQ(error([](Artifact& a) { a.executable.vars[0].name = "m"; }),
            "buffer @x: there is no variable @n");
  EXPECT_EQ(error([](Artifact& a) { a.executable.graphs[0].steps[0].kernel = 99; }),
            "step 0 of graph @main runs kernel 99, which its device does not have");
  EXPECT_EQ(error([](Artifact& a) { a.executable.graphs[0].steps[0].buffers[0].buffer = -5; }),
            "step 0 of graph @main takes buffer -5 of 5");
  EXPECT_NE(error([](Artifact& a) {
              a.executable.graphs[0].steps[0].buffers.pop_back();
            }).find("takes buffer"),
            std::string::npos);
  EXPECT_NE(error([](Artifact& a) {
              a.executable.graphs[0].steps[0].buffers[0].size = 1 << 20;
            }).find("that is outside of it"),
            std::string::npos);
  EXPECT_NE(error([](Artifact& a) {
              a.contents[0].offset += uint64_t{1} << 40;
            }).find("are outside of the weights"),
            std::string::npos);
  EXPECT_NE(error([](Artifact& a) { a.contents[0].bytes += 4; }).find("bytes, not"),
            std::string::npos);
  EXPECT_NE(error([](Artifact& a) {
              a.executable.devices[0].kernels[0].code.local[0] = 0;
            }).find("groups of 0 work-items"),
            std::string::npos);
  EXPECT_EQ(error([](Artifact& a) { a.made_for.clear(); }),
            "it has code for 1 devices and the names of 0");
}

// No change of some bytes makes the reader do anything but succeed or say what is wrong.
TEST_P(ArtifactTest, RandomChangesOfThePlan) {
  ASSERT_EQ(Compile(kModel), absl::OkStatus());
  const auto file = ArtifactFile::Open(path_);
  ASSERT_TRUE(file.ok()) << file.status();
  const std::string plan = EncodePlan(file->artifact());
  std::mt19937 random(7);
  int errors = 0;
  for (int i = 0; i < 4000; ++i) {
    std::string changed = plan;
    for (int n = 1 + i % 3; n > 0; --n) {
      const size_t at = random() % changed.size();
      changed[at] = i % 2 == 0 ? static_cast<char>(random()) : static_cast<char>(changed[at] + 1);
    }
    if (i % 10 == 0) changed.resize(random() % changed.size());
    const auto read = DecodePlan(changed, kPageBytes, 1 << 20);
    if (!read.ok()) {
      ++errors;
      EXPECT_FALSE(Message(read.status()).empty());
      continue;
    }
    for (const auto& device : read->executable.devices) {
      for (const auto& kernel : device.kernels) {
        for (const auto& groups : kernel.code.groups) {
          groups.Evaluate([](std::string_view) { return INT64_MIN; });
        }
      }
    }
  }
  EXPECT_GT(errors, 400);
}

INSTANTIATE_TEST_SUITE_P(Devices, ArtifactTest, testing::Values("native", "pocl"));

}  // namespace
}  // namespace tg::artifact
