#include "frontend/file_kind.h"

#include <string>
#include <string_view>

#include "gtest/gtest.h"

namespace tg::frontend {
namespace {

using namespace std::string_view_literals;

std::string_view NameOf(std::string_view bytes) {
  const FileKind* kind = KindOfFile(bytes);
  return kind ? kind->name : "";
}

TEST(FileKind, NamesWhatItKnows) {
  EXPECT_EQ(NameOf("GGUF\x03\0\0\0"sv), "a GGUF model");
  EXPECT_EQ(NameOf("\x1c\0\0\0TFL3"sv), "a TFLite model");
  EXPECT_EQ(NameOf("\x40\0\0\0\0\0\0\0{\"w\":"sv), "a safetensors file");
  EXPECT_EQ(NameOf("PK\x03\x04\0\0"sv),
            "a zip archive, such as a PyTorch checkpoint or an npz file");
  EXPECT_EQ(NameOf("\x93NUMPY\x01\0"sv), "an npy array");
  EXPECT_EQ(NameOf("\x80\x04\x95\x10"sv), "a pickle of Python");
  EXPECT_EQ(NameOf("\x1f\x8b\x08"sv), "a file that gzip has compressed");
}

TEST(FileKind, TextIsNone) {
  for (const std::string_view text :
       {""sv, "tg 1\nmodule @m\n"sv, "UOp(Ops.CONST, dtypes.float, arg=1.0, src=())"sv,
        "\x08\x08 not a field"sv, "\x08"sv, "\xff\xfet\0g\0"sv, "GGU"sv, "PK"sv,
        "12345678{\"w\": 1}"sv}) {
    EXPECT_EQ(NameOf(text), "") << text;
  }
}

}  // namespace
}  // namespace tg::frontend
