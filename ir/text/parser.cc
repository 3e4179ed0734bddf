#include "ir/text/parser.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "ir/text/module_parser.h"

namespace tg {

std::unique_ptr<Module> ParseModule(std::string_view text, std::string_view file_name,
                                    Diagnostics& diags) {
  diags.SetSource(text, file_name);
  return text::ModuleParser(text, file_name, diags).Parse();
}

absl::StatusOr<std::string> ReadTextFile(const std::string& path) {
  const bool standard_input = path == "-";
  std::FILE* file = standard_input ? stdin : std::fopen(path.c_str(), "rb");
  if (!file) return absl::NotFoundError(path + ": " + std::strerror(errno));
  std::string text;
  // The sizes of a read. kLeast is also used at the expected end of the file, to detect it.
  constexpr size_t kChunk = 1 << 20, kLeast = 4096;
  if (!standard_input && std::fseek(file, 0, SEEK_END) == 0) {
    const long size = std::ftell(file);  // NOLINT: what ftell returns
    // A directory can be opened and seeked, but its size is meaningless.
    if (size > 0 && size < (1l << 40)) text.reserve(static_cast<size_t>(size) + kLeast);
    std::rewind(file);
  }
  for (;;) {
    const size_t old = text.size();
    text.resize(old + std::max<size_t>(std::min<size_t>(kChunk, text.capacity() - old), kLeast));
    const size_t got = std::fread(text.data() + old, 1, text.size() - old, file);
    text.resize(old + got);
    if (got == 0) break;
  }
  const bool failed = std::ferror(file) != 0;
  const int error = errno;
  if (!standard_input) std::fclose(file);
  if (failed) return absl::UnavailableError(path + ": cannot be read: " + std::strerror(error));
  return text;
}

std::unique_ptr<Module> ReadModuleFile(const std::string& path, Diagnostics& diags) {
  auto text = ReadTextFile(path);
  if (!text.ok()) {
    diags.SetSource({}, {});
    diags.Error({}, std::string(text.status().message()));
    return nullptr;
  }
  const std::string name = path == "-" ? "<stdin>" : path;
  return ParseModule(diags.OwnSource(*std::move(text), name), name, diags);
}

absl::StatusOr<std::unique_ptr<Module>> ReadModuleFile(const std::string& path) {
  Diagnostics diags;
  auto module = ReadModuleFile(path, diags);
  if (!module) {
    std::string message = diags.ToString();
    if (!message.empty() && message.back() == '\n') message.pop_back();
    return absl::InvalidArgumentError(message);
  }
  return module;
}

}  // namespace tg
