#include "tools/c_units/run_c_unit.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <vector>

#include "absl/strings/str_cat.h"
#include "codegen/c/renderer.h"
#include "ir/interpret/random_data.h"

namespace tg::c_units {
namespace {

std::string ReadAll(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void WriteAll(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

// Runs a command; its output is the error's message.
absl::Status Run(const std::string& command, const std::string& log) {
  const int rc = std::system(absl::StrCat(command, " > ", log, " 2>&1").c_str());
  const std::string output = ReadAll(log);
  if (rc == 0 && output.empty()) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(command, " gave ", rc, ":\n", output.substr(0, 4000)));
}

// The program: reads all buffers from a file, runs the graphs, writes them to another.
std::string Program(const runtime::CUnit& unit, const Module& module,
                    const std::vector<size_t>& bytes, const interpret::VarValues& vars,
                    const RunOptions& options) {
  std::string out =
      "#include <stdio.h>\n#include <stdlib.h>\n#include \"unit.h\"\n"
      "int main(int argc, char** argv) {\n  (void)argc;\n"
      "  FILE* in = fopen(argv[1], \"rb\");\n";
  for (size_t i = 0; i < module.buffers.size(); ++i) {
    const BufferDecl& b = module.buffers[i];
    if (b.role == Role::kTemp) continue;
    const std::string n = absl::StrCat(bytes[i]);
    const int64_t missing = b.name == options.short_buffer ? ByteSize(b.dtype.scalar()) : 0;
    absl::StrAppend(&out, "  char* b", i, " = malloc(", n, " - ", missing, ");\n  if (fread(b", i,
                    ", 1, ", n, " - ", missing, ", in) != ", n, " - ", missing,
                    ") return 2;\n  fseek(in, ", missing, ", SEEK_CUR);\n");
  }
  std::vector<const runtime::CEntry*> order;
  for (const std::string_view graph : {kInitGraph, std::string_view("main")}) {
    for (const runtime::CEntry& e : unit.entries) {
      if (e.graph->name == graph) order.push_back(&e);
    }
  }
  for (const runtime::CEntry* e : order) {
    absl::StrAppend(&out, "  {\n    void* scratch = ", e->scratch_bytes, " ? aligned_alloc(64, ",
                    e->scratch_bytes, ") : 0;\n    int rc = ", e->function, "(");
    for (const int b : e->buffers) {
      const Scalar s = module.buffers[static_cast<size_t>(b)].dtype.scalar();
      absl::StrAppend(&out, "(", std::string(c::ElementType(s)), "*)b", b, ", ");
    }
    for (const std::string& var : e->vars) {
      const auto value = vars.find(var);
      absl::StrAppend(&out, value == vars.end() ? 0 : value->second, "LL, ");
    }
    absl::StrAppend(&out, "scratch);\n    if (rc) return 3;\n    free(scratch);\n  }\n");
  }
  absl::StrAppend(&out, "  FILE* f = fopen(argv[2], \"wb\");\n");
  for (size_t i = 0; i < module.buffers.size(); ++i) {
    if (module.buffers[i].role == Role::kTemp) continue;
    absl::StrAppend(&out, "  fwrite(b", i, ", 1, ", bytes[i], ", f);\n  free(b", i, ");\n");
  }
  return out + "  fclose(in);\n  return fclose(f);\n}\n";
}

}  // namespace

absl::StatusOr<interpret::HostBuffers> RunCUnit(const runtime::CUnit& unit, const Module& module,
                                                const interpret::HostBuffers& inputs,
                                                const interpret::VarValues& vars,
                                                const RunOptions& options) {
  const char* tmp = std::getenv("TEST_TMPDIR");
  std::string dir = absl::StrCat(tmp ? tmp : "/tmp", "/c_unit_XXXXXX");
  if (mkdtemp(dir.data()) == nullptr) return absl::InternalError("no temporary folder");
  std::vector<size_t> bytes(module.buffers.size());
  std::string in;
  for (size_t i = 0; i < module.buffers.size(); ++i) {
    const BufferDecl& b = module.buffers[i];
    if (b.role == Role::kTemp) continue;
    bytes[i] = static_cast<size_t>(interpret::NumElements(interpret::ShapeUnder(b, vars)) *
                                   ByteSize(b.dtype.scalar()));
    const auto given = inputs.find(b.name);
    std::string data(bytes[i], b.role == Role::kState ? '\0' : '\x5a');
    if (given != inputs.end()) {
      const std::vector<uint8_t> raw = interpret::BufferToBytes(given->second);
      data.assign(raw.begin(), raw.end());
    } else if (b.values && b.role == Role::kState) {
      for (size_t e = 0; e < b.values->size(); ++e) {
        interpret::StoreBits(b.dtype.scalar(), data.data(), e, (*b.values)[e]);
      }
    }
    data.resize(bytes[i]);
    in += data;
  }
  WriteAll(dir + "/in", in);
  WriteAll(dir + "/unit.c", unit.source);
  WriteAll(dir + "/unit.h", unit.header);
  WriteAll(dir + "/main.c", Program(unit, module, bytes, vars, options));
  const std::string log = dir + "/log";
  absl::Status status =
      Run(absl::StrCat("cd ", dir, " && ", options.compiler, " ", options.flags,
                       " -Wall -Wextra -Wno-psabi -Wno-unused-function -Wno-unused-parameter "
                       "-Wno-unused-but-set-variable "
                       "-Wno-unknown-warning-option -Wno-maybe-uninitialized -include "
                       "unit.h -c unit.c -o unit.o && ",
                       options.compiler, " ", options.link_flags, " main.c unit.o -lm -o run"),
          log);
  if (status.ok()) status = Run(absl::StrCat(dir, "/run ", dir, "/in ", dir, "/out"), log);
  if (!status.ok()) return status;
  const std::string out = ReadAll(dir + "/out");
  interpret::HostBuffers result;
  size_t at = 0;
  for (size_t i = 0; i < module.buffers.size(); ++i) {
    const BufferDecl& b = module.buffers[i];
    if (b.role == Role::kTemp) continue;
    result[b.name] =
        interpret::BufferFromBytes(b.dtype, interpret::ShapeUnder(b, vars), out.data() + at);
    at += bytes[i];
  }
  std::filesystem::remove_all(dir);
  return result;
}

}  // namespace tg::c_units
