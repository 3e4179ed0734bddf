#include "passes/pass.h"

#include <charconv>

#include "ir/check.h"

namespace tg {

std::string_view PassContext::String(std::string_view name) const {
  const auto it = options.find(name);
  TG_CHECK(it != options.end());  // the pass asks for an option that it did not declare
  return it->second;
}

int64_t PassContext::Int(std::string_view name) const {
  const std::string_view text = String(name);
  int64_t v = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), v);
  TG_CHECK(error == std::errc() && end == text.data() + text.size());
  return v;
}

bool PassContext::Flag(std::string_view name) const { return String(name) == "true"; }

}  // namespace tg
