#include "runtime/io/safetensors.h"

#include <cstring>
#include <random>

#include "base/status.h"
#include "gtest/gtest.h"

namespace tg::runtime {
namespace {

std::string RawFile(uint64_t length, std::string_view header, std::string_view data) {
  std::string out(8, '\0');
  std::memcpy(out.data(), &length, 8);
  return Cat(out, header, data);
}
std::string RawFile(std::string_view header, std::string_view data) {
  return RawFile(header.size(), header, data);
}

// Returns one header entry.
std::string Entry(std::string_view name, std::string_view dtype, std::string_view shape,
                  int64_t begin, int64_t end) {
  return Cat("\"", name, "\":{\"dtype\":\"", dtype, "\",\"shape\":", shape, ",\"data_offsets\":[",
             begin, ",", end, "]}");
}

HostTensor RandomTensor(ElementType type, std::vector<int64_t> shape, std::mt19937& rng) {
  HostTensor tensor = *MakeHostTensor(type, std::move(shape));
  for (std::byte& b : tensor.data) b = static_cast<std::byte>(rng());
  if (type == ElementType::kBool) NormalizeBools(tensor.data);
  return tensor;
}

TEST(Safetensors, ReadsTensorsAndMetadata) {
  const std::string file = RawFile(
      Cat("{\"__metadata__\":{\"format\":\"pt\"},", Entry("b", "F32", "[2]", 3, 11), ",",
          Entry("a", "BOOL", "[3,1]", 0, 3), ",", Entry("none", "I64", "[0,5]", 3, 3), "}   "),
      {"\x00\x07\x01\x00\x00\x80\x3f\x00\x00\x00\xc0", 11});
  const auto parsed = SafetensorsFile::Parse(file, "m");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  ASSERT_EQ(parsed->entries().size(), 3u);
  EXPECT_EQ(parsed->entries()[0].name, "a");  // order of the data, not of the header
  EXPECT_EQ(parsed->entries()[1].name, "none");
  EXPECT_EQ(parsed->entries()[2].name, "b");
  EXPECT_EQ(parsed->metadata().at("format"), "pt");
  EXPECT_EQ(parsed->entries()[2].bytes.data(), file.data() + parsed->entries()[2].offset);

  const HostTensor b = *parsed->Read("b");
  float values[2];
  std::memcpy(values, b.data.data(), sizeof values);
  EXPECT_EQ(values[0], 1.0f);
  EXPECT_EQ(values[1], -2.0f);
  const HostTensor a = *parsed->Read("a");
  EXPECT_EQ(a.shape, (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(a.data, (std::vector<std::byte>{std::byte{0}, std::byte{1}, std::byte{1}}));
  EXPECT_TRUE(parsed->Read("none")->data.empty());
}

TEST(Safetensors, AMissingTensorSuggestsTheClosestName) {
  const auto parsed = SafetensorsFile::Parse(
      RawFile(Cat("{", Entry("layer.0.weight", "U8", "[]", 0, 1), "}"), "x"), "m");
  ASSERT_TRUE(parsed.ok()) << parsed.status();
  EXPECT_EQ(parsed->Read("layer.0.wieght").status().message(),
            "m: no tensor \"layer.0.wieght\" among 1; did you mean \"layer.0.weight\"?");
  EXPECT_EQ(parsed->Read("bias").status().message(), "m: no tensor \"bias\" among 1");
  EXPECT_EQ(parsed->Find("bias"), nullptr);
}

TEST(Safetensors, FilesRoundTrip) {
  std::mt19937 rng(4);
  std::vector<HostTensor> tensors;
  for (int t = 0; t < kNumElementTypes; ++t) {
    for (const auto& shape : std::vector<std::vector<int64_t>>{{}, {0, 3}, {5}, {2, 3, 4}}) {
      tensors.push_back(RandomTensor(static_cast<ElementType>(t), shape, rng));
    }
  }
  std::vector<NamedTensor> named;
  for (size_t i = 0; i < tensors.size(); ++i) {
    named.push_back(
        {Cat("t\xc3\xa9 \"", i, "\"\\\n"), tensors[i].type, tensors[i].shape, tensors[i].data});
  }
  const std::string path = testing::TempDir() + "/safetensors_test.safetensors";
  const std::map<std::string, std::string> metadata = {{"who", "a \"test\""}, {"z", ""}};
  ASSERT_TRUE(WriteSafetensors(path, named, metadata).ok());
  auto opened = SafetensorsFile::Open(path);
  ASSERT_TRUE(opened.ok()) << opened.status();
  const SafetensorsFile file = std::move(*opened);  // the views stay valid after the move
  EXPECT_EQ(file.metadata(), metadata);
  ASSERT_EQ(file.entries().size(), tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto back = file.Read(named[i].name);
    ASSERT_TRUE(back.ok()) << back.status();
    EXPECT_EQ(*back, tensors[i]);
    const SafetensorsEntry* entry = file.Find(named[i].name);
    EXPECT_EQ(entry->offset % ElementSize(entry->type), 0u);
  }
}

struct BadCase {
  std::string name, file, message;
};

TEST(Safetensors, RefusesWhatIsWrongAndSaysWhat) {
  const std::string f32 = Entry("a", "F32", "[2]", 0, 8);
  const std::string data8 = "01234567";
  auto file = [](std::string_view body, std::string_view data) {
    return RawFile(Cat("{", body, "}"), data);
  };
  const std::vector<BadCase> cases = {
      {"empty", "", "0 bytes; 8 are the least"},
      {"short", "1234567", "7 bytes; 8 are the least"},
      {"long_header", RawFile(3, "{}", ""), "said to be 3 bytes; 2 follow"},
      {"2^63", RawFile(uint64_t{1} << 63, "{}", ""), "said to be 9223372036854775808 bytes"},
      {"2^64-1", RawFile(~uint64_t{0}, "{}", ""), "said to be 18446744073709551615 bytes"},
      {"no_header", RawFile("", ""), "does not begin with '{'"},
      {"array", RawFile("[]", ""), "does not begin with '{'"},
      {"json", file("\"a\":", ""), "safetensors header: "},
      {"two_values", RawFile("{}{}", ""), "safetensors header: "},
      {"utf8", file("\"a\xff\":1", ""), "UTF-8"},
      {"deep", RawFile(std::string(100000, '{'), ""), "nested deeper than 3"},
      {"deep_array", file("\"a\":" + std::string(100000, '['), ""), "nested deeper than 3"},
      {"twice", file(Cat(f32, ",", f32), data8), "the key \"a\" is given twice"},
      {"escaped_twice", file(Cat(f32, ",", Entry("\\u0061", "F32", "[2]", 0, 8)), data8),
       "given twice"},
      {"key_twice", file("\"a\":{\"dtype\":\"F32\",\"dtype\":\"F16\"}", ""),
       "\"dtype\" is given twice"},
      {"not_object", file("\"a\":1", ""), "tensor \"a\": not an object"},
      {"unknown_key", file("\"a\":{\"color\":1}", ""), "unknown key \"color\""},
      {"no_dtype", file("\"a\":{\"shape\":[]}", ""), "no \"dtype\""},
      {"dtype", file(Entry("a", "F31", "[2]", 0, 8), data8), "dtype \"F31\" is not known"},
      {"no_shape", file("\"a\":{\"dtype\":\"F32\"}", ""), "\"shape\" must be"},
      {"negative", file(Entry("a", "F32", "[-2]", 0, 8), data8), "\"shape\" must be"},
      {"fraction", file(Entry("a", "F32", "[2.5]", 0, 8), data8), "\"shape\" must be"},
      {"2^63 dim", file(Entry("a", "U8", "[9223372036854775808]", 0, 8), data8),
       "\"shape\" must be"},
      {"2^63 float", file(Entry("a", "U8", "[9223372036854775808.0]", 0, 8), data8),
       "\"shape\" must be"},
      {"overflow", file(Entry("a", "F32", "[4294967296,4294967296]", 0, 8), data8),
       "no size in 64 bits"},
      {"overflow0", file(Entry("a", "F32", "[0,4294967296,4294967296]", 0, 0), ""),
       "no size in 64 bits"},
      {"wrap", file(Entry("a", "F32", "[4611686018427387904]", 0, 0), ""), "no size in 64 bits"},
      {"offsets", file("\"a\":{\"dtype\":\"F32\",\"shape\":[],\"data_offsets\":[0]}", ""),
       "[begin, end]"},
      {"backwards", file(Entry("a", "F32", "[2]", 8, 0), data8), "outside the 8 bytes"},
      {"outside", file(Entry("a", "F32", "[2]", 4, 12), data8), "outside the 8 bytes"},
      {"mismatch", file(Entry("a", "F32", "[3]", 0, 8), data8),
       "f32[3] needs 12 bytes, data_offsets [0, 8] give 8"},
      {"overlap", file(Cat(f32, ",", Entry("b", "F32", "[1]", 4, 8)), data8),
       "inside the one before"},
      {"same", file(Cat(f32, ",", Entry("b", "F32", "[2]", 0, 8)), data8), "inside the one before"},
      {"hole", file(Cat(Entry("a", "U8", "[2]", 0, 2), ",", Entry("b", "U8", "[2]", 6, 8)), data8),
       "a hole after 2"},
      {"first_hole", file(Entry("a", "U8", "[7]", 1, 8), data8), "a hole after 0"},
      {"rest", file(f32, data8 + "x"), "1 bytes after the last tensor"},
      {"no_tensor", file("", "x"), "1 bytes after the last tensor"},
      {"metadata", file("\"__metadata__\":{\"a\":1}", ""), "__metadata__ \"a\" is not a string"},
      {"metadata_array", file("\"__metadata__\":[]", ""), "__metadata__ is not an object"},
  };
  for (const BadCase& c : cases) {
    const auto result = SafetensorsFile::Parse(c.file, c.name);
    ASSERT_FALSE(result.ok()) << c.name;
    const std::string message(result.status().message());
    EXPECT_NE(message.find(c.message), std::string::npos) << c.name << ": " << message;
    EXPECT_EQ(message.find(c.name + ": "), 0u) << message;
  }
  EXPECT_TRUE(SafetensorsFile::Parse(file("", ""), "no tensors").ok());
}

TEST(Safetensors, TheWriterRefusesWhatAReaderWould) {
  const std::vector<std::byte> four(4);
  const auto message = [](std::vector<NamedTensor> tensors) {
    return std::string(SafetensorsHeader(tensors, {}).status().message());
  };
  EXPECT_EQ(message({{"a", ElementType::kF32, {}, four}, {"a", ElementType::kF32, {}, four}}),
            "two tensors are named \"a\"");
  EXPECT_EQ(message({{"a", ElementType::kF32, {2}, four}}),
            "tensor \"a\": f32[2] with 4 bytes of data");
  EXPECT_EQ(message({{"\xff", ElementType::kF32, {}, four}}), "a tensor's name is not UTF-8");
  EXPECT_EQ(message({{"__metadata__", ElementType::kF32, {}, four}}),
            "the name __metadata__ is reserved in safetensors");
}

TEST(Safetensors, MissingFile) {
  const auto missing = SafetensorsFile::Open(testing::TempDir() + "/none.safetensors");
  EXPECT_EQ(missing.status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace tg::runtime
