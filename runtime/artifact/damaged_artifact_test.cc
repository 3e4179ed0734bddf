// Files that are not what was written, and plans that are not legal.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>

#include "runtime/artifact/artifact_testing.h"

namespace tg::artifact {
namespace {

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
            "m.tgx: its format has version 7, and this program reads 6; compile the model again");
  EXPECT_EQ(error(with(offsetof(Header, plan_offset), 7)),
            "m.tgx: its head, bytes 0 to 72, is damaged");
  EXPECT_NE(error(bytes.substr(0, bytes.size() - 1)).find("it was cut off"), std::string::npos);
  EXPECT_NE(error(bytes + "x").find("it was cut off"), std::string::npos);
  std::string changed = bytes;
  changed[bytes.size() - 9] ^= 1;
  EXPECT_NE(error(changed).find("is damaged"), std::string::npos);
}

// Each byte of the weights that changes is found at a start, unless its user does not want that.
TEST_P(ArtifactTest, DamagedWeightsAreOneClearError) {
  ASSERT_EQ(Compile(kModel), absl::OkStatus());
  const std::string bytes = *runtime::ReadFile(path_);
  const auto file = ArtifactFile::Open(path_);
  ASSERT_TRUE(file.ok()) << file.status();
  ASSERT_FALSE(file->artifact().contents.empty());
  for (const Contents& c : file->artifact().contents) {
    for (uint64_t at = c.offset; at < c.offset + c.bytes; ++at) {
      std::string changed = bytes;
      changed[at] ^= 1;
      auto read = ArtifactFile::Read(nullptr, changed, "m.tgx");
      ASSERT_TRUE(read.ok()) << read.status();
      const std::string message = Message(OpenArtifact(*std::move(read), {}).status());
      EXPECT_NE(message.find(Cat("bytes ", c.offset, " to ", c.offset + c.bytes, ", are damaged")),
                std::string::npos)
          << message;
      read = ArtifactFile::Read(nullptr, changed, "m.tgx");
      EXPECT_FALSE(read->VerifyContents().ok());
      EXPECT_TRUE(OpenArtifact(*std::move(read), {.verify = false}).ok());
    }
  }
}

constexpr char kLargeModel[] = R"(tg 1
module @large
buffer @a : i8[12582912] param = file("large.bin", 0)
buffer @b : i8[12582912] param = file("large.bin", 12582912)
buffer @c : i8[12582912] param = file("large.bin", 25165824)
buffer @x : i8[1] input
buffer @y : i8[1] output

graph @main {
  %a = buffer @a : i8
  %b = buffer @b : i8
  %c = buffer @c : i8
  %0 = shrink %a {ranges = [(0, 1)]} : i8
  %1 = shrink %b {ranges = [(0, 1)]} : i8
  %2 = shrink %c {ranges = [(0, 1)]} : i8
  %x = buffer @x : i8
  %3 = add %0, %x : i8
  %4 = mul %1, %3 : i8
  %5 = max %2, %4 : i8
  sink %5 -> @y
}
)";

// Threads that read the weights agree on which contents are the first damaged ones.
TEST_P(ArtifactTest, TheFirstDamagedWeightsOfManyAreNamed) {
  std::ofstream(testing::TempDir() + "/large.bin", std::ios::binary) << std::string(36 << 20, 1);
  ASSERT_EQ(Compile(kLargeModel), absl::OkStatus());
  std::string bytes = *runtime::ReadFile(path_);
  const auto message = [&] {
    return Message(ArtifactFile::Read(nullptr, bytes, "m.tgx")->VerifyContents());
  };
  EXPECT_EQ(message(), "");
  const auto file = ArtifactFile::Open(path_);
  ASSERT_TRUE(file.ok()) << file.status();
  const std::vector<Contents>& contents = file->artifact().contents;
  ASSERT_EQ(contents.size(), 3);
  for (size_t i = contents.size(); i-- > 0;) {
    const Contents& c = contents[i];
    bytes[c.offset + c.bytes - 1] ^= 1;
    EXPECT_NE(message().find(Cat("bytes ", c.offset, " to ", c.offset + c.bytes, ", are damaged")),
              std::string::npos)
        << message();
  }
}

TEST(HashTest, DependsOnEachByteAndTheirOrder) {
  std::mt19937_64 random(1);
  for (size_t size = 0; size < 100; ++size) {
    std::string bytes(size, 0);
    std::set<uint64_t> hashes = {Hash(bytes), Hash(bytes + std::string(1, 0))};
    EXPECT_EQ(hashes.size(), 2) << "a zero at the end of " << size;
    for (char& c : bytes) c = static_cast<char>(random());
    hashes = {Hash(bytes)};
    for (size_t at = 0; at < size; ++at) {
      for (int bit = 0; bit < 8; ++bit) {
        std::string changed = bytes;
        changed[at] = static_cast<char>(changed[at] ^ (1 << bit));
        EXPECT_TRUE(hashes.insert(Hash(changed)).second) << size << " bytes, " << at;
      }
    }
    for (size_t at = 0; at + 8 < size; ++at) {
      std::string changed = bytes;
      std::swap(changed[at], changed[at + 8]);
      if (changed != bytes) {
        EXPECT_TRUE(hashes.insert(Hash(changed)).second) << size << " bytes, " << at;
      }
    }
  }
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
  const auto measured = [&](const runtime::ScheduledMeasure& measure) {
    return error([&](Artifact& a) { a.executable.graphs[0].measures = {measure}; });
  };
  EXPECT_EQ(measured({0, 0, "m"}), "graph @main: measured variable @m is not declared");
  EXPECT_EQ(measured({99, 0, "n"}), "graph @main: measured variable @n is read before step 99");
  EXPECT_EQ(measured({0, 99, "n"}),
            "graph @main: measured variable @n is read from buffer 99, which is no integer");
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
