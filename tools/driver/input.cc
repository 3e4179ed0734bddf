#include "tools/driver/input.h"

#include "frontend/file_kind.h"
#include "frontend/tinygrad/import.h"
#include "ir/text/parser.h"
#include "ir/verify/verifier.h"

namespace tg {

void AddInputFormat(Flags& flags, std::string* format) {
  flags.Choice("input-format", {"auto", "uop", "tinygrad"}, format,
               "what is read: tg's text, or what print(uop) gives in tinygrad; auto: the text says "
               "it");
}

std::unique_ptr<Module> ReadInput(std::string_view text, const std::string& path,
                                  std::string_view format, Diagnostics& diags) {
  const std::string name = path == "-" ? "<stdin>" : path;
  if (const FileKind* kind = KindOfFile(text)) {
    const std::string_view advice =
        kind->advice.empty() ? "tg reads modules, and what tinygrad prints" : kind->advice;
    diags.SetSource({}, name);
    diags.Error({}, "this is " + std::string(kind->name) + ", not the text of a module; " +
                        std::string(advice));
    return nullptr;
  }
  const bool tinygrad = format == "tinygrad" || (format == "auto" && IsTinygradText(text));
  std::unique_ptr<Module> module =
      tinygrad ? ImportTinygrad(text, name, diags) : ParseModule(text, name, diags);
  if (module && tinygrad) VerifyModule(*module, diags);
  if (module && !tinygrad) VerifyParsedModule(*module, diags);
  return diags.has_errors() ? nullptr : std::move(module);
}

}  // namespace tg
