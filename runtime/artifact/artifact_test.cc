// Modules through a file and back: the values that come out.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "runtime/artifact/artifact_testing.h"

namespace tg::artifact {
namespace {

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

// @init makes @wide of bytes, @scaled of floats, @table of nothing, and @sum of @scaled.
constexpr char kInitModel[] = R"(tg 1
module @model
buffer @bytes : i8[1048576] param = file("weights.bin", 0)
buffer @floats : f32[65536] param = file("weights.bin", 1048576)
buffer @wide : f32[1048576] state
buffer @scaled : f32[65536] state
buffer @table : i32[65536] state
buffer @sum : f32[1] state
buffer @x : f32[1] input
buffer @y : f32[1] output

graph @main {
  %wide = buffer @wide : f32
  %0 = reduce_axis %wide {op = add, axes = [0]} : f32
  %scaled = buffer @scaled : f32
  %1 = reduce_axis %scaled {op = add, axes = [0]} : f32
  %table = buffer @table : i32
  %2 = reduce_axis %table {op = max, axes = [0]} : i32
  %3 = cast %2 : f32
  %sum = buffer @sum : f32
  %x = buffer @x : f32
  %4 = add %0, %1 : f32
  %5 = add %4, %3 : f32
  %6 = add %5, %sum : f32
  %7 = add %6, %x : f32
  sink %7 -> @y
}

graph @init {
  %bytes = buffer @bytes : i8
  %wide = cast %bytes : f32
  %floats = buffer @floats : f32
  %scaled = add %floats, %floats : f32
  %i = iota {size = 65536} : index
  %0 = cast %i : i32
  %1 = add %0, %0 : i32
  %sum = reduce_axis %scaled {op = add, axes = [0]} : f32
  sink %wide -> @wide, %scaled -> @scaled, %1 -> @table, %sum -> @sum
}
)";

// A file has results of @init that are not larger than what they replace; the others are computed
// at a start, once for all siblings.
TEST_P(ArtifactTest, InitIsFoldedWhereTheFileDoesNotGrow) {
  std::string weights(1048576, 1);
  const std::vector<float> floats(65536, 0.5f);
  weights.append(reinterpret_cast<const char*>(floats.data()), floats.size() * 4);
  std::ofstream(testing::TempDir() + "/weights.bin", std::ios::binary) << weights;
  ASSERT_EQ(Compile(kInitModel), absl::OkStatus());
  EXPECT_LT(std::filesystem::file_size(path_), weights.size() + (100 << 10));
  const auto opened = OpenArtifact(path_);
  ASSERT_TRUE(opened.ok()) << opened.status();
  const Declarations& decls = (*opened)->declarations();
  for (const auto& [name, role] : {std::pair("wide", Role::kState),
                                   {"table", Role::kState},
                                   {"scaled", Role::kParam},
                                   {"sum", Role::kParam}}) {
    EXPECT_EQ(decls.FindBuffer(name)->role, role) << name;
  }
  const runtime::ScheduledGraph* init = FindGraph((*opened)->executable(), kInitGraph);
  ASSERT_NE(init, nullptr);
  for (const int b : init->buffers) {
    EXPECT_NE(decls.buffers[static_cast<size_t>(b)].name, "floats");
  }
  constexpr float kSum = 1048576 + 65536 + 2 * 65535 + 65536 + 1;
  EXPECT_EQ(RunOnOne(**opened), kSum);
  const auto sibling = (*opened)->NewSibling();
  ASSERT_TRUE(sibling.ok()) << sibling.status();
  EXPECT_EQ(RunOnOne(**sibling), kSum);
  const auto& other = static_cast<const runtime::DeviceSession&>(**sibling);
  EXPECT_EQ(other.init_plan(), nullptr);
  EXPECT_LT(other.memory().peak_total_bytes, size_t{1048576});
}

// What the checksums do not catch, because they are right, the checks of the plan do.
INSTANTIATE_TEST_SUITE_P(Devices, ArtifactTest, testing::Values("native", "pocl"));

}  // namespace
}  // namespace tg::artifact
