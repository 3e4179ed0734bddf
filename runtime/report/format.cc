#include "runtime/report/format.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

#include "base/status.h"

namespace tg::runtime {

std::string FormatNumber(const char* format, double value) {
  char text[64];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

std::string FormatScaled(double value, std::span<const std::string_view> units, double step) {
  size_t unit = 0;
  while (value >= step && unit + 1 < units.size()) {
    value /= step;
    ++unit;
  }
  return Cat(FormatNumber(value >= 99.95   ? "%.0f"
                          : value >= 9.995 ? "%.1f"
                                           : "%.2f",
                          value),
             " ", units[unit]);
}

std::string FormatSeconds(double seconds) {
  constexpr std::array<std::string_view, 2> kSmall = {"us", "ms"};
  if (seconds >= 1) return Cat(FormatNumber("%.2f", seconds), " s");
  return FormatScaled(seconds * 1e6, kSmall, 1000);
}

std::string FormatBytes(double bytes) {
  constexpr std::array<std::string_view, 5> kUnits = {"B", "kB", "MB", "GB", "TB"};
  if (bytes < 1000) return Cat(static_cast<int64_t>(bytes), " B");
  return FormatScaled(bytes, kUnits, 1000);
}

std::string FormatTable(std::span<const std::vector<Cell>> rows, std::span<const size_t> left) {
  std::vector<size_t> widths;
  for (const std::vector<Cell>& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].width);
  }
  std::string text;
  for (const std::vector<Cell>& row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c) {
      const std::string space(widths[c] - row[c].width, ' ');
      const bool is_left = std::find(left.begin(), left.end(), c) != left.end();
      line += Cat(c > 0 ? "  " : "", is_left ? "" : space, row[c].text, is_left ? space : "");
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace tg::runtime
