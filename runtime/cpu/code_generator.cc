#include "runtime/cpu/code_generator.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <mutex>
#include <vector>

#include "base/status.h"
#include "codegen/llvm/compile_interface.h"
#include "runtime/cpu/processor.h"

namespace tg::cpu {
namespace {

constexpr char kFile[] = "libtg_codegen.so";

using CompileFunction = decltype(&tg_codegen_compile);

std::string Directory(const std::string& path) { return path.substr(0, path.rfind('/')); }

// The folder of the file that contains this code, if that is a shared library; else empty.
std::string LibraryFolder() {
  Dl_info info = {};
  if (dladdr(reinterpret_cast<const void*>(&LibraryFolder), &info) == 0) return "";
  const std::string file = info.dli_fname == nullptr ? "" : info.dli_fname;
  return file.ends_with(".so") || file.find(".so.") != std::string::npos ? Directory(file) : "";
}

// Where the library may be: the file that $TG_CODEGEN names; in the folder of the shared library
// that contains this code; in the executable's folder, or in ../lib from there; or below the root
// of a build's output, in which one of them is.
std::vector<std::string> Places() {
  if (const char* file = std::getenv("TG_CODEGEN"); file != nullptr && *file != '\0') return {file};
  std::vector<std::string> places;
  const auto add_folders_above = [&places](std::string folder) {
    for (; folder.size() > 1; folder = Directory(folder)) {
      places.push_back(Cat(folder, "/codegen/llvm/", kFile));
    }
  };
  if (const std::string folder = LibraryFolder(); !folder.empty()) {
    places.push_back(Cat(folder, "/", kFile));
    add_folders_above(folder);
  }
  char executable[PATH_MAX] = {};
  const ssize_t length = readlink("/proc/self/exe", executable, sizeof executable - 1);
  if (length <= 0) return places;
  const std::string folder = Directory(std::string(executable, static_cast<size_t>(length)));
  places.push_back(Cat(folder, "/", kFile));
  places.push_back(Cat(Directory(folder), "/lib/", kFile));
  add_folders_above(folder);
  return places;
}

// Whether this program was linked with the code generator.
bool IsLinked() { return tg_codegen_compile != nullptr; }

// The path of the file with the code generator; empty if there is none.
const std::string& Path() {
  static const std::string& path = *new std::string([] {
    if (IsLinked()) return std::string("/proc/self/exe");
    for (const std::string& place : Places()) {
      if (access(place.c_str(), R_OK) == 0) return place;
    }
    return std::string();
  }());
  return path;
}

// The library stays open: its code may be running when the process ends.
absl::StatusOr<CompileFunction> Open() {
  if (IsLinked()) return tg_codegen_compile;
  if (Path().empty()) {
    const std::vector<std::string> places = Places();
    return NotFound(
        "the code generator ", kFile, " is not there; it was looked for as ",
        places.empty() ? "nothing" : places[0], places.size() > 1 ? Cat(", ", places[1]) : "",
        ", and TG_CODEGEN can name it; bazel build //codegen/llvm:libtg_codegen.so makes it");
  }
  void* library = dlopen(Path().c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return NotFound("the code generator cannot be opened: ", dlerror());
  const auto version =
      reinterpret_cast<decltype(&tg_codegen_version)>(dlsym(library, "tg_codegen_version"));
  const auto compile = reinterpret_cast<CompileFunction>(dlsym(library, "tg_codegen_compile"));
  if (version == nullptr || compile == nullptr || version() != kTgCodegenVersion) {
    return NotFound("the code generator ", Path(), " belongs to another version of tg");
  }
  return compile;
}

}  // namespace

bool HasCodeGenerator() { return !Path().empty(); }

absl::StatusOr<std::string> Compile(std::string_view text, Output output) {
  static const absl::StatusOr<CompileFunction>& opened =
      *new absl::StatusOr<CompileFunction>(Open());
  if (!opened.ok()) return opened.status();
  const TgCodegenRequest request = {.text = text.data(),
                                    .size = text.size(),
                                    .processor = nullptr,
                                    .features = nullptr,
                                    .assembly = output == Output::kAssembly};
  std::string out;
  const auto append = [](void* context, const char* data, size_t size) {
    static_cast<std::string*>(context)->assign(data, size);
  };
  if ((*opened)(&request, append, &out) == 0) return out;
  return absl::InternalError(out);
}

std::string CodeGeneratorKey() {
  struct stat file = {};
  stat(Path().c_str(), &file);
  return Cat("LLVM of ", file.st_size, " bytes of ", file.st_mtim.tv_sec, ".", file.st_mtim.tv_nsec,
             "\n", ThisProcessor().key);
}

}  // namespace tg::cpu
