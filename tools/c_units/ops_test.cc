// Every op of a type, in all widths, as C: compiled, run, and compared with the interpreter on
// random and special values.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "codegen/c/renderer.h"
#include "codegen/testing/op_cases.h"
#include "gtest/gtest.h"
#include "ir/interpret/kernel.h"
#include "passes/linearize/linearize.h"

namespace tg::c_units {
namespace {

struct Way {
  const char* name;
  const char* command;
  const char* target;
  const codegen::Renderer& (*renderer)();
};

constexpr Way kWays[] = {{"gcc_c17", "gcc -std=c17", "c", c::C17Renderer},
                         {"clang_c17", "clang -std=c17", "c", c::C17Renderer},
                         {"gcc_c99", "gcc -std=c99 -pedantic", "c99", c::C99Renderer}};

// Warnings are errors, and so is undefined behaviour.
constexpr char kFlags[] =
    " -O1 -fsanitize=undefined -fno-sanitize-recover=all -Wall -Wextra -Werror -Wno-psabi"
    " -Wno-unknown-warning-option -Wno-maybe-uninitialized ";

std::string ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

// The program of a kernel: reads all buffers, calls it for each group, writes all buffers.
std::string Program(const codegen::RenderedKernel& kernel, const std::vector<size_t>& bytes) {
  std::string out =
      absl::StrCat(kernel.source, "#include <stdio.h>\n#include <stdlib.h>\n",
                   "int main(int argc, char** argv) {\n  (void)argc;\n",
                   "  FILE* in = fopen(argv[1], \"rb\");\n  void* b[", bytes.size(), "];\n");
  for (size_t i = 0; i < bytes.size(); ++i) {
    absl::StrAppend(&out, "  b[", i, "] = malloc(", bytes[i], ");\n  if (fread(b[", i, "], 1, ",
                    bytes[i], ", in) != ", bytes[i], ") return 2;\n");
  }
  std::string args;
  for (const codegen::KernelParam& p : kernel.params) absl::StrAppend(&args, "b[", p.slot, "], ");
  absl::StrAppend(&out, "  for (int g = 0; g < ", kernel.groups[0].steps()[0].value, "; g++) ",
                  kernel.name, "(", args, "g);\n  FILE* f = fopen(argv[2], \"wb\");\n");
  for (size_t i = 0; i < bytes.size(); ++i) {
    absl::StrAppend(&out, "  fwrite(b[", i, "], 1, ", bytes[i], ", f);\n");
  }
  return out + "  return fclose(f);\n}\n";
}

class Ops : public ::testing::TestWithParam<std::tuple<int, Scalar>> {};

void Check(codegen::OpCase& c, const Way& way, const std::string& dir) {
  Kernel& kernel = *c.module->kernels[0];
  ASSERT_TRUE(linearize::LinearizeKernel(kernel, -1).ok());
  const auto target = passes::FindTarget(way.target);
  ASSERT_TRUE(target.ok());
  const auto rendered = codegen::RenderAll(way.renderer(), *c.module, *target);
  ASSERT_TRUE(rendered.ok()) << rendered.status();
  const codegen::RenderedKernel& code = rendered->kernels[0];
  std::vector<interpret::HostBuffer> expected = c.buffers;
  std::vector<interpret::KernelArg> args;
  for (interpret::HostBuffer& b : expected) args.push_back({&b, 0, -1});
  // C rounds a product and a sum, also where a module allows a single rounding.
  interpret::InterpretOptions options = interpret::OptionsFor(*c.module);
  options.mulacc = interpret::MulAcc::kTwoRoundings;
  const absl::Status run = interpret::RunKernel(kernel, args, {}, options);
  ASSERT_TRUE(run.ok()) << run;
  std::string in;
  std::vector<size_t> bytes;
  for (const interpret::HostBuffer& b : c.buffers) {
    const std::vector<uint8_t> raw = interpret::BufferToBytes(b);
    in.append(raw.begin(), raw.end());
    bytes.push_back(raw.size());
  }
  std::ofstream(dir + "/in", std::ios::binary) << in;
  std::ofstream(dir + "/k.c") << Program(code, bytes);
  const std::string command = absl::StrCat("cd ", dir, " && { ", way.command, kFlags,
                                           " k.c -lm -o k && ./k in out; } > log 2>&1");
  ASSERT_EQ(std::system(command.c_str()), 0) << ReadAll(dir + "/log") << code.source;
  const std::string out = ReadAll(dir + "/out");
  std::vector<size_t> at = {0};
  for (const size_t n : bytes) at.push_back(at.back() + n);
  ASSERT_EQ(out.size(), at.back());
  for (const auto& [slot, what, tolerance] : c.outputs) {
    const auto i = static_cast<size_t>(slot);
    const interpret::HostBuffer actual =
        interpret::BufferFromBytes(expected[i].dtype, expected[i].shape, out.data() + at[i]);
    const auto d = interpret::Difference(expected[i], actual, tolerance);
    EXPECT_FALSE(d) << what << ": " << *d << "\n" << code.source;
  }
}

TEST_P(Ops, GiveWhatTheInterpreterGives) {
  const Way& way = kWays[std::get<0>(GetParam())];
  const char* tmp = std::getenv("TEST_TMPDIR");
  std::string dir = absl::StrCat(tmp ? tmp : "/tmp", "/c_ops_XXXXXX");
  ASSERT_NE(mkdtemp(dir.data()), nullptr);
  const bool scalar_only = way.renderer == c::C99Renderer;
  for (const int lanes : codegen::kOpLanes) {
    if (scalar_only && lanes > 1) break;
    for (codegen::OpCase& c : codegen::MakeOpCases(std::get<1>(GetParam()), lanes)) {
      Check(c, way, dir);
    }
  }
  std::filesystem::remove_all(dir);
}

INSTANTIATE_TEST_SUITE_P(Types, Ops,
                         ::testing::Combine(::testing::Range(0, 3),
                                            ::testing::ValuesIn(codegen::kOpScalars)),
                         [](const auto& info) {
                           return absl::StrCat(kWays[std::get<0>(info.param)].name, "_",
                                               DType(std::get<1>(info.param)).ToString());
                         });

}  // namespace
}  // namespace tg::c_units
