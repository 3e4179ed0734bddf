#include "ir/dtype.h"

#include <charconv>
#include <vector>

namespace tg {
namespace {

constexpr std::string_view kSpaces[] = {"global", "local", "private", "reg"};

std::string_view Trim(std::string_view s) {
  while (!s.empty() && s.front() == ' ') s.remove_prefix(1);
  while (!s.empty() && s.back() == ' ') s.remove_suffix(1);
  return s;
}

std::optional<int64_t> ParseInt(std::string_view s) {
  int64_t v = 0;
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), v);
  if (error != std::errc() || end != s.data() + s.size()) return std::nullopt;
  return v;
}

// The number of lanes in a suffix such as "x4": 1 for an empty one, nullopt for a malformed one.
std::optional<int> TakeLanes(std::string_view suffix) {
  if (suffix.empty()) return 1;
  if (suffix.front() != 'x') return std::nullopt;
  const auto n = ParseInt(suffix.substr(1));
  if (!n || *n < 1 || *n > kMaxVectorLanes) return std::nullopt;
  return static_cast<int>(*n);
}

}  // namespace

std::string_view AddrSpaceName(AddrSpace s) { return kSpaces[static_cast<size_t>(s)]; }

Scalar BitsType(Scalar s) {
  switch (BitWidth(s)) {
    case 8:
      return Scalar::kU8;
    case 16:
      return Scalar::kU16;
    case 32:
      return Scalar::kU32;
    default:
      return Scalar::kU64;
  }
}

std::string DType::ToString() const {
  std::string out;
  const std::string name(GetScalarInfo(scalar()).text);
  switch (kind()) {
    case Kind::kValue:
      out = name;
      break;
    case Kind::kPointer:
      out = "ptr<" + name;
      if (size_ != kUnknownSize) out += ", " + std::to_string(size_);
      if (space() != AddrSpace::kGlobal) out += ", " + std::string(AddrSpaceName(space()));
      out += ">";
      break;
    case Kind::kImage:
      out =
          "image<" + name + ", " + std::to_string(height()) + ", " + std::to_string(width()) + ">";
      break;
  }
  if (lanes() != 1) out += "x" + std::to_string(lanes());
  return out;
}

std::optional<Scalar> ScalarFromName(std::string_view text) {
  for (int i = 0; i < kNumScalars; ++i) {
    if (kScalarInfos[i].text == text) return static_cast<Scalar>(i);
  }
  return std::nullopt;
}

std::optional<DType> DTypeFromString(std::string_view text) {
  text = Trim(text);
  const size_t open = text.find('<');
  if (open == std::string_view::npos) {
    if (const auto s = ScalarFromName(text)) return DType(*s);
    const size_t x = text.rfind('x');
    if (x == std::string_view::npos) return std::nullopt;
    const auto s = ScalarFromName(text.substr(0, x));
    const auto lanes = TakeLanes(text.substr(x));
    if (!s || !lanes || *s == Scalar::kVoid) return std::nullopt;
    return DType(*s, *lanes);
  }
  const size_t close = text.find('>', open);
  if (close == std::string_view::npos) return std::nullopt;
  const auto lanes = TakeLanes(text.substr(close + 1));
  if (!lanes) return std::nullopt;
  std::vector<std::string_view> fields;
  for (std::string_view rest = text.substr(open + 1, close - open - 1);;) {
    const size_t comma = rest.find(',');
    fields.push_back(Trim(rest.substr(0, comma)));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  const auto scalar = ScalarFromName(fields[0]);
  if (!scalar || *scalar == Scalar::kVoid) return std::nullopt;
  const std::string_view head = text.substr(0, open);
  if (head == "image") {
    if (fields.size() != 3) return std::nullopt;
    const auto h = ParseInt(fields[1]), w = ParseInt(fields[2]);
    const bool fits = h && w && *h >= 0 && *w >= 0 && *h <= INT32_MAX && *w <= INT32_MAX;
    if (!fits || (*scalar != Scalar::kF16 && *scalar != Scalar::kF32)) return std::nullopt;
    return DType::Image(*scalar, static_cast<int32_t>(*h), static_cast<int32_t>(*w), *lanes);
  }
  if (head != "ptr" || fields.size() > 3) return std::nullopt;
  int64_t size = DType::kUnknownSize;
  AddrSpace space = AddrSpace::kGlobal;
  size_t next = 1;
  if (next < fields.size()) {
    if (const auto n = ParseInt(fields[next])) {
      if (*n < 0) return std::nullopt;
      size = *n;
      ++next;
    }
  }
  if (next < fields.size()) {
    bool found = false;
    for (int i = 0; i < 4; ++i) {
      if (fields[next] == kSpaces[i]) {
        space = static_cast<AddrSpace>(i);
        found = true;
      }
    }
    if (!found) return std::nullopt;
    ++next;
  }
  if (next != fields.size()) return std::nullopt;
  return DType::Pointer(*scalar, size, space, *lanes);
}

}  // namespace tg
