#include "runtime/io/npy.h"

#include <unistd.h>

#include <cstring>
#include <random>

#include "base/status.h"
#include "gtest/gtest.h"
#include "passes/instrument/write_file.h"
#include "runtime/io/file.h"

namespace tg::runtime {
namespace {

// Builds an npy file with the given header text, version and data, without any check.
std::string RawNpy(int major, std::string_view header, std::string_view data) {
  std::string out = Cat("\x93NUMPY", static_cast<char>(major), '\0');
  size_t length = header.size();
  for (int i = 0; i < (major == 1 ? 2 : 4); ++i, length >>= 8)
    out += static_cast<char>(length & 0xff);
  return Cat(out, header, data);
}

std::string Dict(std::string_view descr, std::string_view order, std::string_view shape) {
  return Cat("{'descr': '", descr, "', 'fortran_order': ", order, ", 'shape': ", shape, ", }\n");
}

template <typename T>
std::vector<T> Values(const HostTensor& tensor) {
  std::vector<T> out(tensor.data.size() / sizeof(T));
  std::memcpy(out.data(), tensor.data.data(), tensor.data.size());
  return out;
}

HostTensor RandomTensor(ElementType type, std::vector<int64_t> shape, std::mt19937& rng) {
  HostTensor tensor = *MakeHostTensor(type, std::move(shape));
  for (std::byte& b : tensor.data) b = static_cast<std::byte>(rng());
  if (type == ElementType::kBool) {
    for (std::byte& b : tensor.data) b &= std::byte{1};
  }
  return tensor;
}

std::string Bytes(const HostTensor& tensor) {
  return Cat(*NpyHeader(tensor), std::string_view(reinterpret_cast<const char*>(tensor.data.data()),
                                                  tensor.data.size()));
}

// The file's size is one tebibyte, but only its header occupies the disk.
TEST(Npy, TypeAndShapeAreKnownBeforeDataIsRead) {
  const std::string path = Cat(testing::TempDir(), "/npy_test.", ::getpid(), ".npy");
  const std::string header = RawNpy(1, Dict("<f4", "False", "(4, 68719476736)"), "");
  constexpr int64_t kBytes = int64_t{1} << 40;
  ASSERT_TRUE(instrument::WriteFile(path, header).ok());
  if (::truncate(path.c_str(), static_cast<int64_t>(header.size()) + kBytes) != 0) {
    GTEST_SKIP() << "no file system for files with holes";
  }
  const auto file = NpyFile::Open(path);
  ::unlink(path.c_str());
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->type(), ElementType::kF32);
  EXPECT_EQ(file->shape(), (std::vector<int64_t>{4, int64_t{1} << 36}));
}

TEST(Npy, ReadsWhatNumpyWrites) {
  // The exact bytes that numpy.save writes for numpy.array([[1.5, -2], [3, 4e9]], '<f4').
  std::string file("\x93NUMPY\x01\x00v\x00", 10);
  file += "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }";
  file.resize(127, ' ');
  file += '\n';
  file += std::string_view("\x00\x00\xc0\x3f\x00\x00\x00\xc0\x00\x00\x40\x40\x28\x6b\x6e\x4f", 16);
  const auto tensor = ParseNpy(file, "a.npy");
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->shape, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(Values<float>(*tensor), (std::vector<float>{1.5f, -2, 3, 4e9f}));
  EXPECT_EQ(Bytes(*tensor), file);
}

TEST(Npy, RoundTripsEveryTypeAndRank) {
  std::mt19937 rng(1);
  int count = 0;
  for (int t = 0; t < kNumElementTypes; ++t) {
    const auto type = static_cast<ElementType>(t);
    if (type == ElementType::kBF16 || type == ElementType::kF8E4M3 ||
        type == ElementType::kF8E5M2) {
      continue;
    }
    for (const auto& shape : std::vector<std::vector<int64_t>>{
             {}, {0}, {7}, {3, 5}, {2, 0, 4}, {2, 3, 4, 5}, std::vector<int64_t>(64, 1)}) {
      const HostTensor tensor = RandomTensor(type, shape, rng);
      const auto back = ParseNpy(Bytes(tensor), "t.npy");
      ASSERT_TRUE(back.ok()) << back.status();
      EXPECT_EQ(*back, tensor) << TypeAndShape(type, shape);
      ++count;
    }
  }
  EXPECT_EQ(count, 12 * 7);
}

TEST(Npy, VersionsTwoAndThreeHaveLongHeaders) {
  for (int major : {1, 2, 3}) {
    std::string header = Dict("|u1", "False", "(2,)");
    if (major > 1) header.insert(header.size() - 1, 70000, ' ');
    const auto tensor = ParseNpy(RawNpy(major, header, "ab"), "v");
    ASSERT_TRUE(tensor.ok()) << tensor.status();
    EXPECT_EQ(Values<uint8_t>(*tensor), (std::vector<uint8_t>{'a', 'b'}));
  }
}

TEST(Npy, BigEndianIsSwapped) {
  const auto i16 = ParseNpy(RawNpy(1, Dict(">i2", "False", "(2,)"), {"\x01\x02\xff\xfe", 4}), "be");
  ASSERT_TRUE(i16.ok()) << i16.status();
  EXPECT_EQ(Values<int16_t>(*i16), (std::vector<int16_t>{0x0102, -2}));
  const auto f64 = ParseNpy(
      RawNpy(1, Dict(">f8", "False", "()"), {"\x40\x09\x21\xfb\x54\x44\x2d\x18", 8}), "be");
  ASSERT_TRUE(f64.ok()) << f64.status();
  EXPECT_EQ(Values<double>(*f64), (std::vector<double>{3.141592653589793}));
}

TEST(Npy, FortranOrderBecomesCOrder) {
  // Element (i, j, k) holds 100 i + 10 j + k; in the file i varies fastest.
  const std::vector<int64_t> shape = {3, 4, 5};
  std::vector<int16_t> file_values, want;
  for (int k = 0; k < 5; ++k)
    for (int j = 0; j < 4; ++j)
      for (int i = 0; i < 3; ++i) file_values.push_back(static_cast<int16_t>(100 * i + 10 * j + k));
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 4; ++j)
      for (int k = 0; k < 5; ++k) want.push_back(static_cast<int16_t>(100 * i + 10 * j + k));
  const std::string data(reinterpret_cast<const char*>(file_values.data()), file_values.size() * 2);
  const auto tensor = ParseNpy(RawNpy(1, Dict("<i2", "True", "(3, 4, 5)"), data), "f");
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(Values<int16_t>(*tensor), want);
}

TEST(Npy, BoolsBecomeZeroOrOne) {
  const auto tensor = ParseNpy(RawNpy(1, Dict("|b1", "False", "(3,)"), {"\x00\x01\x80", 3}), "b");
  ASSERT_TRUE(tensor.ok());
  EXPECT_EQ(Values<uint8_t>(*tensor), (std::vector<uint8_t>{0, 1, 1}));
}

TEST(Npy, AcceptsPython2AndDoubleQuotes) {
  const std::string header = "{\"shape\": (2L, 1L), 'fortran_order':False,'descr':'|i1'}";
  const auto tensor = ParseNpy(RawNpy(1, header, "ab"), "p");
  ASSERT_TRUE(tensor.ok()) << tensor.status();
  EXPECT_EQ(tensor->shape, (std::vector<int64_t>{2, 1}));
}

struct BadCase {
  std::string name, file, message;
};

TEST(Npy, RefusesWhatIsWrongAndSaysWhat) {
  const std::string good = RawNpy(1, Dict("<f4", "False", "(2,)"), "01234567");
  const std::vector<BadCase> cases = {
      {"empty", "", "not an npy file"},
      {"other", "PK\x03\x04 zip file", "not an npy file"},
      {"magic", good.substr(0, 7), "ends in the magic"},
      {"version", RawNpy(4, Dict("<f4", "False", "()"), "0123"), "version 4.0"},
      {"length", good.substr(0, 9), "ends in the header length"},
      {"header", good.substr(0, 30), "bytes, but 20 are left"},
      {"short", good.substr(0, good.size() - 1),
       "needs 8 bytes of data, the file has 7 (truncated)"},
      {"long", good + "x", "needs 8 bytes of data, the file has 9 (trailing bytes)"},
      {"overflow", RawNpy(1, Dict("<f4", "False", "(4294967296, 4294967296)"), ""),
       "no size in 64"},
      {"overflow0", RawNpy(1, Dict("<f4", "False", "(0, 4294967296, 4294967296)"), ""), "no size"},
      {"bytes", RawNpy(1, Dict("<f8", "False", "(2305843009213693951,)"), ""), "no size in 64"},
      {"huge", RawNpy(1, Dict("<f4", "False", "(99999999999999999999,)"), ""), "does not fit 64"},
      {"negative", RawNpy(1, Dict("<f4", "False", "(-1,)"), ""), "expected a size >= 0"},
      {"nottuple", RawNpy(1, Dict("<f4", "False", "(2)"), "01234567"), "no tuple"},
      {"complex", RawNpy(1, Dict("<c8", "False", "()"), "01234567"), "dtype '<c8'"},
      {"object", RawNpy(1, Dict("|O", "False", "()"), ""), "dtype '|O'"},
      {"noorder", RawNpy(1, Dict("|f4", "False", "()"), "0123"), "dtype '|f4'"},
      {"struct", RawNpy(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (), }", ""),
       "structured dtype"},
      {"twice", RawNpy(1, "{'descr': '<f4', 'descr': '<f4', }", ""), "'descr' is given twice"},
      {"missing", RawNpy(1, "{'descr': '<f4', 'shape': (), }", ""), "no 'fortran_order'"},
      {"unknown", RawNpy(1, "{'color': '<f4', }", ""), "unknown key 'color'"},
      {"order", RawNpy(1, "{'fortran_order': Maybe, }", ""), "expected True or False"},
      {"quote", RawNpy(1, "{'descr", ""), "no closing quote"},
      {"brace", RawNpy(1, "{", ""), "expected a key"},
      {"after", RawNpy(1, Dict("<f4", "False", "()") + "x", "0123"), "after the closing brace"},
      {"rank", RawNpy(1, Dict("<f4", "False", "(" + std::string(65 * 2, '1') + ",)"), ""),
       "64 bits"},
  };
  for (const BadCase& c : cases) {
    const auto result = ParseNpy(c.file, c.name + ".npy");
    ASSERT_FALSE(result.ok()) << c.name;
    const std::string message(result.status().message());
    EXPECT_NE(message.find(c.message), std::string::npos) << c.name << ": " << message;
    EXPECT_EQ(message.find(c.name + ".npy: "), 0u) << message;
  }
}

TEST(Npy, RefusesMoreThan64Dimensions) {
  std::string shape = "(";
  for (int i = 0; i < 65; ++i) shape += "1, ";
  const auto result = ParseNpy(RawNpy(1, Dict("|u1", "False", shape + ")"), "x"), "deep");
  ASSERT_FALSE(result.ok());
  EXPECT_NE(std::string(result.status().message()).find("more than 64 dimensions"),
            std::string::npos);
}

TEST(Npy, EveryPrefixIsRefused) {
  std::mt19937 rng(2);
  const std::string file = Bytes(RandomTensor(ElementType::kI32, {2, 3}, rng));
  for (size_t n = 0; n < file.size(); ++n) EXPECT_FALSE(ParseNpy(file.substr(0, n), "p").ok()) << n;
}

TEST(Npy, FilesRoundTripAndErrorsNameThePath) {
  std::mt19937 rng(3);
  const std::string path = testing::TempDir() + "/npy_test.npy";
  const HostTensor tensor = RandomTensor(ElementType::kF64, {4, 9}, rng);
  ASSERT_TRUE(WriteNpy(path, tensor).ok());
  const auto back = ReadNpy(path);
  ASSERT_TRUE(back.ok()) << back.status();
  EXPECT_EQ(*back, tensor);

  EXPECT_EQ(ReadNpy(path + ".missing").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(ReadNpy(testing::TempDir()).status().code(), absl::StatusCode::kInvalidArgument);
  const auto bf16 = WriteNpy(path, *MakeHostTensor(ElementType::kBF16, {2}));
  ASSERT_FALSE(bf16.ok());
  EXPECT_NE(std::string(bf16.message()).find(path + ": npy has no bf16"), std::string::npos);
  EXPECT_EQ(*ReadNpy(path), tensor);  // the refused write did not change the file
  HostTensor broken = tensor;
  broken.data.pop_back();
  EXPECT_FALSE(WriteNpy(path, broken).ok());
}

}  // namespace
}  // namespace tg::runtime
