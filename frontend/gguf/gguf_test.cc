#include "frontend/gguf/gguf.h"

#include <map>
#include <string>

#include "frontend/gguf/testing/file_writer.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace tg::gguf {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Files = std::map<std::string, std::string, std::less<>>;

absl::StatusOr<Model> Read(const Files& files, const std::string& path) {
  return ReadModel(path, [&](const std::string& name) -> absl::StatusOr<std::string_view> {
    const auto found = files.find(name);
    if (found == files.end()) return absl::NotFoundError(name + ": no such file");
    return found->second;
  });
}

absl::StatusOr<Model> Read(const std::string& bytes) {
  static Files& files = *new Files();  // the views outlive the call
  files["m.gguf"] = bytes;
  return Read(files, "m.gguf");
}

std::string ErrorOf(const std::string& bytes) {
  const auto model = Read(bytes);
  return model.ok() ? "" : std::string(model.status().message());
}

FileWriter Example() {
  FileWriter file;
  file.String("general.architecture", "llama").U32("llama.block_count", 2);
  file.F32("llama.eps", 0.5F).Bool("flag", true).Strings("tokens", {"a", "", "\xff"});
  file.Value("big", 10, FileWriter::Bytes(uint64_t{1} << 40));
  file.Value("small", 1, FileWriter::Bytes(int8_t{-3}));
  file.AddTensor("w", 0, {2, 3}, std::string(24, 'w'));
  file.AddTensor("q", 8, {1, 64}, std::string(68, 'q'));
  return file;
}

TEST(GgufTest, ReadsMetadataAndTensors) {
  for (const uint32_t version : {2, 3}) {
    const auto model = Read(Example().Finish(version));
    ASSERT_TRUE(model.ok()) << model.status();
    EXPECT_EQ(*model->String("general.architecture"), "llama");
    EXPECT_EQ(*model->Int("llama.block_count"), 2);
    EXPECT_EQ(*model->Float("llama.eps"), 0.5);
    EXPECT_TRUE(*model->Bool("flag"));
    EXPECT_EQ(*model->Int("big"), int64_t{1} << 40);
    EXPECT_EQ(*model->Int("small"), -3);
    EXPECT_THAT(*model->Strings("tokens"), ElementsAre("a", "", "\xff"));
    EXPECT_EQ(model->Int("flag"), nullptr);
    EXPECT_EQ(model->Int("missing"), nullptr);
    const Tensor* w = model->FindTensor("w");
    ASSERT_NE(w, nullptr);
    EXPECT_THAT(w->shape, ElementsAre(2, 3));
    EXPECT_EQ(w->bytes, std::string(24, 'w'));
    const Tensor* q = model->FindTensor("q");
    ASSERT_NE(q, nullptr);
    EXPECT_EQ(q->type, TensorType::kQ8_0);
    EXPECT_EQ(q->bytes, std::string(68, 'q'));
    EXPECT_EQ(q->offset % 32, 0);
  }
}

TEST(GgufTest, AlignmentIsRead) {
  FileWriter file;
  file.Alignment(128).AddTensor("w", 0, {4}, std::string(16, 'w'));
  file.AddTensor("v", 0, {4}, std::string(16, 'v'));
  const auto model = Read(file.Finish());
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->FindTensor("v")->offset % 128, 0);
  EXPECT_EQ(model->FindTensor("v")->bytes, std::string(16, 'v'));
}

TEST(GgufTest, EveryPrefixOfAFileIsAnError) {
  const std::string bytes = Example().Finish();
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_THAT(ErrorOf(bytes.substr(0, size)), HasSubstr("m.gguf: ")) << size;
  }
}

TEST(GgufTest, BadFilesAreErrorsThatNameThePlace) {
  const auto u32 = [](uint32_t v) { return FileWriter::Bytes(v); };
  const auto u64 = [](uint64_t v) { return FileWriter::Bytes(v); };
  const uint64_t huge = uint64_t{1} << 61;
  EXPECT_THAT(ErrorOf("GGML"), HasSubstr("does not begin with GGUF"));
  EXPECT_THAT(ErrorOf(FileWriter().Finish(1)), HasSubstr("GGUF version 1"));
  EXPECT_THAT(ErrorOf(FileWriter().Finish(0x03000000)), HasSubstr("big-endian"));
  EXPECT_THAT(ErrorOf("GGUF" + u32(3) + u64(huge) + u64(0)), HasSubstr("the number of tensors"));
  EXPECT_THAT(ErrorOf("GGUF" + u32(3) + u64(0) + u64(huge)),
              HasSubstr("the number of metadata values"));
  EXPECT_THAT(ErrorOf(FileWriter().Value("k", 13, "").Finish()), HasSubstr("key 'k' is 13"));
  EXPECT_THAT(ErrorOf(FileWriter().Value("k", 7, "\x02").Finish()), HasSubstr("no bool"));
  EXPECT_THAT(ErrorOf(FileWriter().Value("k", 8, u64(huge)).Finish()), HasSubstr("key 'k'"));
  EXPECT_THAT(ErrorOf(FileWriter().Value("k", 9, u32(8) + u64(huge)).Finish()),
              HasSubstr("the number of elements of key 'k'"));
  EXPECT_THAT(ErrorOf(FileWriter().Value("k", 9, u32(9) + u64(0)).Finish()),
              HasSubstr("array of arrays"));
  EXPECT_THAT(ErrorOf(FileWriter().Value("k", 10, u64(~uint64_t{0})).Finish()),
              HasSubstr("beyond 63 bits"));
  EXPECT_THAT(ErrorOf(FileWriter().U32("k", 1).U32("k", 1).Finish()),
              HasSubstr("'k' is there twice"));
  EXPECT_THAT(ErrorOf(FileWriter().U32("general.alignment", 24).Finish()),
              HasSubstr("power of two"));
  EXPECT_THAT(ErrorOf(FileWriter().AddTensor("t", 4, {32}, "").Finish()),
              HasSubstr("tensor 't' is of type number 4"));
  EXPECT_THAT(ErrorOf(FileWriter().AddTensor("t", 2, {33}, "").Finish()),
              HasSubstr("rows of 33 elements"));
  EXPECT_THAT(ErrorOf(FileWriter().AddTensor("t", 0, {1, 1, 1, 1, 1}, "").Finish()),
              HasSubstr("has 5 axes"));
  EXPECT_THAT(ErrorOf(FileWriter().AddTensor("t", 0, {huge}, "").Finish()),
              HasSubstr("an extent of"));
  EXPECT_THAT(ErrorOf(FileWriter().AddTensor("t", 0, {0}, "").Finish()),
              HasSubstr("an extent of 0"));
  EXPECT_THAT(ErrorOf(FileWriter().AddTensor("t", 0, {1 << 20, 1 << 20, 1 << 20}, "").Finish()),
              HasSubstr("an extent of"));
  EXPECT_THAT(ErrorOf(FileWriter().AddTensorInfo("t", 0, {1}, 8).Finish()),
              HasSubstr("no multiple of 32"));
  EXPECT_THAT(ErrorOf(FileWriter().AddTensorInfo("t", 0, {1}, huge).Finish()),
              HasSubstr("beyond the file's"));
  EXPECT_THAT(ErrorOf(FileWriter().AddTensor("t", 0, {9}, "1234").Finish()),
              HasSubstr("tensor 't' takes 36 bytes"));
  EXPECT_THAT(
      ErrorOf(FileWriter().AddTensor("t", 0, {1}, "1234").AddTensor("t", 0, {1}, "1234").Finish()),
      HasSubstr("tensor 't' is there twice"));
}

std::string Split(int number, int count, const std::string& tensor, int64_t tensors = 3) {
  FileWriter file;
  file.Value("split.no", 2, FileWriter::Bytes(static_cast<uint16_t>(number)));
  file.Value("split.count", 2, FileWriter::Bytes(static_cast<uint16_t>(count)));
  file.Value("split.tensors.count", 5, FileWriter::Bytes(static_cast<int32_t>(tensors)));
  file.AddTensor(tensor, 0, {4}, std::string(16, tensor[0]));
  return file.Finish();
}

Files Splits() {
  return {{"d/m-00001-of-00003.gguf", Split(0, 3, "a")},
          {"d/m-00002-of-00003.gguf", Split(1, 3, "b")},
          {"d/m-00003-of-00003.gguf", Split(2, 3, "c")}};
}

TEST(GgufTest, ReadsSplitFiles) {
  const Files files = Splits();
  const auto model = Read(files, "d/m-00001-of-00003.gguf");
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ(model->tensors.size(), 3);
  EXPECT_EQ(model->FindTensor("c")->file, 2);
  EXPECT_EQ(model->FindTensor("c")->bytes, std::string(16, 'c'));
  EXPECT_EQ(model->paths[2], "d/m-00003-of-00003.gguf");
}

TEST(GgufTest, BadSplitsAreErrors) {
  const auto error = [](const Files& files, const std::string& path) {
    const auto model = Read(files, path);
    return model.ok() ? "" : std::string(model.status().message());
  };
  Files files = Splits();
  EXPECT_THAT(error(files, "d/m-00002-of-00003.gguf"), HasSubstr("the first one is read"));
  files["d/m-00003-of-00003.gguf"] = Split(1, 3, "c");
  EXPECT_THAT(error(files, "d/m-00001-of-00003.gguf"), HasSubstr("not file 2"));
  files["d/m-00003-of-00003.gguf"] = Split(2, 3, "b");
  EXPECT_THAT(error(files, "d/m-00001-of-00003.gguf"), HasSubstr("tensor 'b'"));
  files.erase("d/m-00003-of-00003.gguf");
  EXPECT_THAT(error(files, "d/m-00001-of-00003.gguf"), HasSubstr("no such file"));
  files = {{"m.gguf", Split(0, 3, "a")}};
  EXPECT_THAT(error(files, "m.gguf"), HasSubstr("does not end with -00001-of-00003.gguf"));
  files = {{"m-00001-of-00001.gguf", Split(0, 1, "a")}};
  EXPECT_EQ(error(files, "m-00001-of-00001.gguf"), "");
}

}  // namespace
}  // namespace tg::gguf
