// Converts between the fields of a directive and its text, such as `local(i0, 4)`.
//
// A directive lists its fields once, in `Visit`, which reads them from the text's arguments or
// writes them.
#ifndef TG_PASSES_DIRECTIVES_ARGUMENTS_H_
#define TG_PASSES_DIRECTIVES_ARGUMENTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "ir/module.h"

namespace tg::directive {

// What `tg-docs` prints and errors name.
struct Doc {
  std::string_view name;
  std::string_view usage;  // "upcast(AXIS[, N])"
  std::string_view doc;
};

// A number of work-items, the axis whose work-items are shared, or nothing.
using ItemsOrAxis = std::variant<std::monostate, int64_t, std::string>;

// Where a copy is: in a work-item's memory, or in local memory with one buffer, two, or two and
// more of which all but one are filled ahead.
struct CopyPlace {
  static constexpr int64_t kMaxBuffers = 8;
  bool is_local = false;
  int64_t buffers = 1;
  bool ahead = false;
};

class ArgReader {
 public:
  explicit ArgReader(const Directive& text) : text_(text) {}

  void operator()(std::string& name);
  void operator()(std::vector<std::string>& names);  // all that are left
  void operator()(std::optional<std::string>& name);
  void operator()(int64_t& number);
  void operator()(std::optional<int64_t>& number);
  void operator()(ItemsOrAxis& either);
  void operator()(CopyPlace& place);

  // Fails if an argument is missing, of the wrong kind, or left over.
  absl::Status Finish(const Doc& doc) const;

 private:
  const DirectiveArg* Next() { return next_ < text_.args.size() ? &text_.args[next_] : nullptr; }

  const Directive& text_;
  size_t next_ = 0;
  const char* problem_ = nullptr;
};

class ArgWriter {
 public:
  explicit ArgWriter(Directive& text) : text_(text) {}

  void operator()(const std::string& name) { text_.args.push_back({name, 0}); }
  void operator()(const std::vector<std::string>& names);
  void operator()(const std::optional<std::string>& name);
  void operator()(int64_t number) { text_.args.push_back({"", number}); }
  void operator()(const std::optional<int64_t>& number);
  void operator()(const ItemsOrAxis& either);
  void operator()(const CopyPlace& place);

 private:
  Directive& text_;
};

}  // namespace tg::directive

#endif  // TG_PASSES_DIRECTIVES_ARGUMENTS_H_
