// Numbers as text for people.
#ifndef TG_RUNTIME_REPORT_FORMAT_H_
#define TG_RUNTIME_REPORT_FORMAT_H_

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tg::runtime {

// Formats a number with a printf format for one double.
std::string FormatNumber(const char* format, double value);

// Formats `value` with three digits and the first unit for which the number is less than `step`.
std::string FormatScaled(double value, std::span<const std::string_view> units, double step);

// Format values as `1.25 ms`, `12.0 us`, `3.40 s`, and `1.50 MB` in powers of 1000.
std::string FormatSeconds(double seconds);
std::string FormatBytes(double bytes);

// A cell's text and its displayed width, which is less if the text has colours.
struct Cell {
  Cell() = default;
  Cell(std::string t) : text(std::move(t)), width(text.size()) {}  // NOLINT: an implicit conversion
  Cell(std::string t, size_t w) : text(std::move(t)), width(w) {}
  std::string text;
  size_t width = 0;
};

// Returns a line per row. Columns are as wide as their widest cell, with two spaces in between, and
// aligned to the right, except for the columns of `left`.
std::string FormatTable(std::span<const std::vector<Cell>> rows, std::span<const size_t> left);

}  // namespace tg::runtime

#endif  // TG_RUNTIME_REPORT_FORMAT_H_
