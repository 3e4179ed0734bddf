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

// The program: reads the blocks and buffers from a file, runs the graphs, writes states and buffers
// to another.
std::string Program(const runtime::CUnit& unit, const Module& module,
                    const std::vector<size_t>& bytes, const interpret::HostBuffers& inputs,
                    const interpret::VarValues& vars, const RunOptions& options) {
  std::string out =
      "#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include \"unit.h\"\n"
      "static void* get(FILE* in, size_t aligned, size_t n, size_t missing) {\n"
      "  char* p = aligned ? aligned_alloc(64, aligned) : malloc(n - missing);\n"
      "  if (fread(p, 1, n - missing, in) != n - missing) exit(2);\n"
      "  fseek(in, (long)missing, SEEK_CUR);\n  return p;\n}\n"
      "int main(int argc, char** argv) {\n  (void)argc;\n"
      "  FILE* in = fopen(argv[1], \"rb\");\n";
  if (unit.weights_bytes > 0) {
    absl::StrAppend(&out, "  void* weights = get(in, ", unit.weights_bytes, ", ",
                    unit.weights_bytes, ", 0);\n");
  }
  if (unit.states_bytes > 0) {
    absl::StrAppend(&out, "  char* states = aligned_alloc(64, ", unit.states_bytes, ");\n");
  }
  absl::StrAppend(&out, "  void* scratch = ", unit.scratch_bytes, " ? aligned_alloc(64, ",
                  unit.scratch_bytes, ") : 0;\n");
  for (size_t i = 0; i < module.buffers.size(); ++i) {
    const BufferDecl& b = module.buffers[i];
    if (b.role == Role::kTemp) continue;
    const int64_t missing = b.name == options.short_buffer ? ByteSize(b.dtype.scalar()) : 0;
    absl::StrAppend(&out, "  char* b", i, " = get(in, 0, ", bytes[i], ", ", missing, ");\n");
  }
  const auto states = [&](bool given) {
    for (const runtime::CBlockPart& part : unit.states) {
      const auto b = static_cast<size_t>(part.buffer);
      if (given && !inputs.contains(module.buffers[b].name)) continue;
      const std::string state = absl::StrCat("states + ", part.offset),
                        buffer = absl::StrCat("b", part.buffer);
      absl::StrAppend(&out, "  memcpy(", given ? state : buffer, ", ", given ? buffer : state, ", ",
                      bytes[b], ");\n");
    }
  };
  for (const runtime::CEntry& e : unit.entries) {
    const bool is_init = e.graph == nullptr || e.graph->name == kInitGraph;
    if (!is_init && e.graph->name != "main") continue;
    absl::StrAppend(&out, "  if (", e.function, "(");
    for (const int b : e.buffers) {
      const Scalar s = module.buffers[static_cast<size_t>(b)].dtype.scalar();
      absl::StrAppend(&out, "(", std::string(c::ElementType(s)), "*)b", b, ", ");
    }
    for (const std::string& var : e.vars) {
      const auto value = vars.find(var);
      absl::StrAppend(&out, value == vars.end() ? 0 : value->second, "LL, ");
    }
    absl::StrAppend(&out, unit.weights_bytes ? "weights, " : "",
                    unit.states_bytes ? "states, " : "", "scratch)) return 3;\n");
    if (is_init) states(/*given=*/true);
  }
  states(/*given=*/false);
  absl::StrAppend(&out, "  FILE* f = fopen(argv[2], \"wb\");\n");
  for (size_t i = 0; i < module.buffers.size(); ++i) {
    if (module.buffers[i].role == Role::kTemp) continue;
    absl::StrAppend(&out, "  fwrite(b", i, ", 1, ", bytes[i], ", f);\n  free(b", i, ");\n");
  }
  absl::StrAppend(&out, "  free(scratch);\n", unit.weights_bytes ? "  free(weights);\n" : "",
                  unit.states_bytes ? "  free(states);\n" : "");
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
  absl::StatusOr<std::string> weights = runtime::ReadCWeights(module, unit);
  if (!weights.ok()) return weights.status();
  std::string in = *std::move(weights);
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
    }
    data.resize(bytes[i]);
    in += data;
  }
  WriteAll(dir + "/in", in);
  WriteAll(dir + "/unit.c", unit.source);
  WriteAll(dir + "/unit.h", unit.header);
  WriteAll(dir + "/main.c", Program(unit, module, bytes, inputs, vars, options));
  const std::string log = dir + "/log";
  absl::Status status =
      Run(absl::StrCat("cd ", dir, " && ", options.compiler, " ", options.flags,
                       " -Wall -Wextra -Wno-psabi "
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
