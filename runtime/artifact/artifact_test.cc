// Modules through a file and back: the values that come out, and files that are not what was
// written.
#include <gtest/gtest.h>

#include <cstdio>
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

// @main runs @step @n times: the sum of the rows of @x, and each of the partial sums.
constexpr char kLoopModel[] = R"(tg 1
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

TEST_P(ArtifactTest, RunsLoops) {
  ASSERT_EQ(Compile(kLoopModel), absl::OkStatus());
  const auto opened = OpenArtifact(path_);
  ASSERT_TRUE(opened.ok()) << opened.status();
  runtime::DeviceSession& session = **opened;
  ASSERT_TRUE(session.Set("x", Floats({3, 2}, {1, 2, 3, 4, 5, 6})).ok());
  ASSERT_EQ(session.Run(), absl::OkStatus());
  EXPECT_EQ(Values(*session.Get("y")), (std::vector<float>{9, 12}));
  EXPECT_EQ(Values(*session.Get("z")), (std::vector<float>{1, 2, 4, 6, 9, 12}));
  ASSERT_TRUE(session.Set("x", Floats({4, 2}, {1, 2, 3, 4, 5, 6, 1, 1})).ok());
  ASSERT_EQ(session.Run("", 2), absl::OkStatus());
  EXPECT_EQ(Values(*session.Get("y")), (std::vector<float>{10, 13}));
}

TEST_P(ArtifactTest, WrongLoopsAreErrors) {
  ASSERT_EQ(Compile(kLoopModel), absl::OkStatus());
  const auto file = ArtifactFile::Open(path_);
  ASSERT_TRUE(file.ok()) << file.status();
  const auto error = [&](const std::function<void(runtime::ScheduledGraph&)>& change) {
    Artifact changed = file->artifact();
    for (runtime::ScheduledGraph& graph : changed.executable.graphs) {
      if (graph.name == "main") change(graph);
    }
    return Message(DecodePlan(EncodePlan(std::move(changed)), kPageBytes, 1 << 20).status());
  };
  using Graph = runtime::ScheduledGraph;
  EXPECT_EQ(error([](Graph& g) { ASSERT_EQ(g.loops.size(), 1); }), "");
  EXPECT_NE(error([](Graph& g) { g.loops[0].last = 99; }).find(" to 99 of "), std::string::npos);
  EXPECT_NE(error([](Graph& g) { g.loops[0].last = g.loops[0].first; }).find("has steps"),
            std::string::npos);
  EXPECT_NE(error([](Graph& g) {
              g.loops.push_back(g.loops[0]);
              --g.loops[1].first;
            }).find("has steps"),
            std::string::npos);
  EXPECT_EQ(error([](Graph& g) { g.loops[0].step = "q"; }),
            "a loop of graph @main: there is no variable @q");
  EXPECT_NE(error([](Graph& g) {
              g.loops[0].trip = codegen::SizeExpr(std::vector<codegen::SizeExpr::Step>());
            }).find("trip count"),
            std::string::npos);
  EXPECT_NE(error([](Graph& g) { g.loops[0].pairs[0].first = 0; }).find("exchanges buffers"),
            std::string::npos);
  EXPECT_NE(error([](Graph& g) { g.loops[0].pairs[0].second = 3; }).find("which are not alike"),
            std::string::npos);
  EXPECT_NE(error([](Graph& g) { g.loops[0].condition = 77; }).find("has condition 77"),
            std::string::npos);
  EXPECT_NE(error([](Graph& g) {
              for (auto& step : g.steps) step.held.clear();
            }).find("exchanges buffers"),
            std::string::npos);
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
  EXPECT_EQ(*UnpackAttachment(*again, "a note"), "some text");
  EXPECT_EQ(Message(UnpackAttachment(*again, "another").status()),
            "there is no another in the file");
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
  file->artifact().binaries[0].packed = "no packed form";
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
            "m.tgx: its format has version 7, and this program reads 3; compile the model again");
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

TEST_P(ArtifactTest, DamagedTextsAreOneClearError) {
  ASSERT_EQ(Compile(kModel), absl::OkStatus());
  auto file = ArtifactFile::Open(path_);
  ASSERT_TRUE(file.ok()) << file.status();
  file->artifact().made_for[0].key += " of another kind";
  std::string& packed = file->artifact().sources[0].packed;
  packed.resize(packed.size() / 2);
  EXPECT_EQ(Message(OpenArtifact(*std::move(file), {}).status()),
            path_ + ": its packed texts are damaged");
}

// @big is in a file, misaligned; @small is in the module's text.
constexpr char kFileModel[] = R"(tg 1
module @model
buffer @big : f32[1048576] param = file("weights.bin", 4)
buffer @small : f32[1] param = [2.0]
buffer @x : f32[1] input
buffer @y : f32[1] output

graph @main {
  %big = buffer @big : f32
  %x = buffer @x : f32
  %each = expand %x {shape = [1048576]} : f32
  %product = mul %big, %each : f32
  %0 = reduce_axis %product {op = add, axes = [0]} : f32
  %small = buffer @small : f32
  %1 = add %small, %x : f32
  %2 = add %0, %1 : f32
  sink %2 -> @y
}
)";

void WriteWeights(float value) {
  std::vector<float> values(1048577, 0);
  values[1048576] = value;
  std::FILE* file = std::fopen((testing::TempDir() + "/weights.bin").c_str(), "wb");
  ASSERT_NE(file, nullptr);
  ASSERT_EQ(std::fwrite(values.data(), 4, values.size(), file), values.size());
  std::fclose(file);
}

float RunOnOne(runtime::Session& session) {
  const absl::Status set = session.Set("x", Floats({1}, {1}));
  if (!set.ok() || !session.Run().ok()) return -1;
  return Values(*session.Get("y"))[0];
}

TEST_P(ArtifactTest, WeightsInTheModelsFile) {
  const std::string weights = testing::TempDir() + "/weights.bin";
  WriteWeights(40);
  ASSERT_EQ(Compile(kFileModel, true, /*external_weights=*/true), absl::OkStatus());
  EXPECT_LT(std::filesystem::file_size(path_), 1u << 20);
  {
    const auto file = ArtifactFile::Open(path_);
    ASSERT_TRUE(file.ok()) << file.status();
    ASSERT_EQ(file->artifact().files.size(), 1u);
    EXPECT_EQ(file->artifact().files[0].path, "weights.bin");
    EXPECT_EQ(file->artifact().contents.size(), 2u);
    EXPECT_EQ(file->VerifyContents(), absl::OkStatus());
    const auto opened = OpenArtifact(path_);
    ASSERT_TRUE(opened.ok()) << opened.status();
    EXPECT_EQ(RunOnOne(**opened), 43);
  }
  // Written again with the same contents: they are compared.
  WriteWeights(40);
  EXPECT_TRUE(OpenArtifact(path_).ok());
  WriteWeights(41);
  EXPECT_EQ(Message(OpenArtifact(path_).status()),
            path_ + ": the contents of @big, bytes 4 to 4194308 of " + weights +
                ", are not those that were compiled");
  std::filesystem::resize_file(weights, 100);
  EXPECT_EQ(Message(OpenArtifact(path_).status()),
            path_ + ": its weights are in " + weights +
                ", which has 100 bytes, not 4194308: it is not the file that was compiled");
  std::filesystem::remove(weights);
  EXPECT_NE(Message(OpenArtifact(path_).status()).find(weights), std::string::npos);
}

// A device has the weights once, however many sessions there are; the native one has them where the
// file is mapped.
TEST_P(ArtifactTest, SiblingsShareTheWeights) {
  WriteWeights(40);
  ASSERT_EQ(Compile(kFileModel), absl::OkStatus());
  size_t uploaded = 0;
  ArtifactOptions options;
  options.on_upload = [&](size_t bytes) { uploaded += bytes; };
  const auto opened = OpenArtifact(path_, options);
  ASSERT_TRUE(opened.ok()) << opened.status();
  EXPECT_EQ(RunOnOne(**opened), 43);
  constexpr size_t kWeightBytes = 4 << 20;
  const bool is_native = GetParam() == std::string_view("native");
  EXPECT_EQ(uploaded >= kWeightBytes, !is_native);
  const runtime::BufferRef& weights = (*opened)->last_plan()->buffer(0);
  if (is_native) {
    const std::byte* address = weights->context().HostAddress(weights->memory());
    EXPECT_EQ(reinterpret_cast<uintptr_t>(address) % kLineBytes, 0u);
  }
  std::vector<std::unique_ptr<runtime::Session>> siblings;
  for (int i = 0; i < 8; ++i) {
    auto sibling = (*opened)->NewSibling();
    ASSERT_TRUE(sibling.ok()) << sibling.status();
    siblings.push_back(*std::move(sibling));
    EXPECT_EQ(RunOnOne(*siblings.back()), 43);
    const auto& device = static_cast<const runtime::DeviceSession&>(*siblings.back());
    EXPECT_EQ(&device.last_plan()->buffer(0)->memory(), &weights->memory());
    EXPECT_LT(device.memory().peak_total_bytes, kWeightBytes / 2);
  }
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
  EXPECT_EQ(error([](Artifact& a) { a.attachments[0].text.lengths.clear(); }),
            "the attachment 'a note' has no size");
  EXPECT_EQ(error([](Artifact& a) { a.contents[0].file = 3; }),
            "the contents of @table are in file 3 of 0");
  EXPECT_EQ(error([](Artifact& a) {
              a.files = {{"w.bin", 4, 0}};
              a.contents[0].file = 1;
              a.contents[0].offset = 0;
            }),
            "the contents of @table are outside of w.bin");
  EXPECT_NE(error([](Artifact& a) { a.sources[0].lengths.pop_back(); }).find("has no texts"),
            std::string::npos);
  EXPECT_NE(error([](Artifact& a) {
              a.sources[0].lengths.assign(a.sources[0].lengths.size(), 1u << 31);
            }).find("bytes of texts"),
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
