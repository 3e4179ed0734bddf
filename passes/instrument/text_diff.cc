#include "passes/instrument/text_diff.h"

#include <algorithm>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tg::instrument {
namespace {

// Blocks of more lines than this are first split at anchors. Myers' algorithm gives up beyond this
// number of edits, since its time and memory grow with the square of it.
constexpr int kSmall = 200;
constexpr int kMaxEdits = 1000;

std::vector<std::string_view> SplitLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

struct Block {
  int a_begin, a_end, b_begin, b_end;
};

// Marks the lines of `a` that are deleted and the lines of `b` that are inserted. The other lines
// of both are equal, in order.
class Comparison {
 public:
  Comparison(std::span<const int> a, std::span<const int> b, int num_ids)
      : deleted(a.size()), inserted(b.size()), a_(a), b_(b), counts_(num_ids) {
    std::vector<Block> work = {{0, static_cast<int>(a.size()), 0, static_cast<int>(b.size())}};
    while (!work.empty()) {
      Block block = work.back();
      work.pop_back();
      Trim(block);
      const int lines = block.a_end - block.a_begin + block.b_end - block.b_begin;
      if (block.a_begin == block.a_end || block.b_begin == block.b_end) {
        Replace(block);
      } else if (lines > kSmall && SplitAtAnchors(block, work)) {
        continue;
      } else if (!Myers(block)) {
        Replace(block);
      }
    }
  }

  std::vector<bool> deleted, inserted;

 private:
  struct Count {
    int in_a = 0, in_b = 0, at_b = 0;
  };

  void Trim(Block& block) const {
    while (block.a_begin < block.a_end && block.b_begin < block.b_end &&
           a_[block.a_begin] == b_[block.b_begin]) {
      ++block.a_begin, ++block.b_begin;
    }
    while (block.a_begin < block.a_end && block.b_begin < block.b_end &&
           a_[block.a_end - 1] == b_[block.b_end - 1]) {
      --block.a_end, --block.b_end;
    }
  }

  void Replace(const Block& block) {
    std::fill(deleted.begin() + block.a_begin, deleted.begin() + block.a_end, true);
    std::fill(inserted.begin() + block.b_begin, inserted.begin() + block.b_end, true);
  }

  // Pairs the lines that occur exactly once on each side of the block, keeps the longest sequence
  // of pairs with the same order on both sides, and appends the blocks between them to `work`.
  bool SplitAtAnchors(const Block& block, std::vector<Block>& work) {
    for (int i = block.a_begin; i < block.a_end; ++i) counts_[a_[i]] = {};
    for (int j = block.b_begin; j < block.b_end; ++j) counts_[b_[j]] = {};
    for (int i = block.a_begin; i < block.a_end; ++i) ++counts_[a_[i]].in_a;
    for (int j = block.b_begin; j < block.b_end; ++j) {
      ++counts_[b_[j]].in_b;
      counts_[b_[j]].at_b = j;
    }
    // Longest increasing subsequence: ends[n] is the pair with the least `b` that ends n + 1 pairs.
    std::vector<std::pair<int, int>> pairs;
    std::vector<int> previous, ends;
    for (int i = block.a_begin; i < block.a_end; ++i) {
      const Count& count = counts_[a_[i]];
      if (count.in_a != 1 || count.in_b != 1) continue;
      const auto place = std::lower_bound(ends.begin(), ends.end(), count.at_b,
                                          [&](int pair, int b) { return pairs[pair].second < b; });
      previous.push_back(place == ends.begin() ? -1 : place[-1]);
      const int self = static_cast<int>(pairs.size());
      pairs.emplace_back(i, count.at_b);
      if (place == ends.end()) {
        ends.push_back(self);
      } else {
        *place = self;
      }
    }
    if (ends.empty()) return false;
    Block rest = block;
    for (int pair = ends.back(); pair >= 0; pair = previous[pair]) {
      const auto [i, j] = pairs[pair];
      work.push_back({i + 1, rest.a_end, j + 1, rest.b_end});
      rest.a_end = i;
      rest.b_end = j;
    }
    work.push_back(rest);
    return true;
  }

  // E. Myers, "An O(ND) Difference Algorithm and Its Variations" (1986): the greedy forward search,
  // with the furthest points of every step kept to walk back. False if it would take more than
  // kMaxEdits edits.
  bool Myers(const Block& block) {
    const int n = block.a_end - block.a_begin, m = block.b_end - block.b_begin;
    const int limit = std::min(n + m, kMaxEdits);
    std::vector<std::vector<int>> steps;  // steps[d][k + d]: furthest x on diagonal k, d edits
    for (int d = 0; d <= limit; ++d) {
      std::vector<int> furthest(2 * d + 1, -1);
      for (int k = -d; k <= d; k += 2) {
        int x = d == 0 ? 0 : Enter(steps.back(), d - 1, k, n, m).x;
        if (x < 0) continue;
        while (x < n && x - k < m && a_[block.a_begin + x] == b_[block.b_begin + x - k]) ++x;
        furthest[k + d] = x;
        if (x == n && x - k == m) {
          WalkBack(block, steps, d, k);
          return true;
        }
      }
      steps.push_back(std::move(furthest));
    }
    return false;
  }

  struct Entry {
    int x = -1;  // -1: the diagonal cannot be reached
    bool insertion = false;
  };
  // Where the search enters diagonal k (y = x - k) by one more edit: an insertion keeps x and
  // increases y, a deletion increases x.
  static Entry Enter(const std::vector<int>& step, int d, int k, int n, int m) {
    const auto at = [&](int diagonal) {
      return diagonal < -d || diagonal > d ? -1 : step[diagonal + d];
    };
    Entry entry;
    if (const int x = at(k + 1); x >= 0 && x - k <= m) entry = {x, true};
    if (const int x = at(k - 1); x >= 0 && x < n && x + 1 > entry.x) entry = {x + 1, false};
    return entry;
  }

  void WalkBack(const Block& block, const std::vector<std::vector<int>>& steps, int d, int k) {
    const int n = block.a_end - block.a_begin, m = block.b_end - block.b_begin;
    for (; d > 0; --d) {
      const Entry entry = Enter(steps[d - 1], d - 1, k, n, m);
      if (entry.insertion) {
        inserted[block.b_begin + entry.x - k - 1] = true;
        ++k;
      } else {
        deleted[block.a_begin + entry.x - 1] = true;
        --k;
      }
    }
  }

  std::span<const int> a_, b_;
  std::vector<Count> counts_;
};

class Writer {
 public:
  explicit Writer(const DiffOptions& options) : options_(options) {}

  void Line(const char* color, std::string_view prefix, std::string_view line) {
    if (options_.color && *color) out += color;
    out += prefix;
    out += line;
    if (options_.color && *color) out += "\033[0m";
    out += '\n';
  }
  std::string out;

 private:
  const DiffOptions& options_;
};

// "12,3", or "12" for one line; an empty range names the line before it.
std::string RangeText(int begin, int count) {
  const std::string start = std::to_string(count == 0 ? begin : begin + 1);
  return count == 1 ? start : start + "," + std::to_string(count);
}

}  // namespace

std::string UnifiedDiff(std::string_view before, std::string_view after, DiffOptions options) {
  if (before == after) return "";
  const std::vector<std::string_view> a = SplitLines(before), b = SplitLines(after);
  std::unordered_map<std::string_view, int> ids;
  const auto number = [&](const std::vector<std::string_view>& lines) {
    std::vector<int> numbers;
    for (const std::string_view line : lines) {
      numbers.push_back(ids.try_emplace(line, static_cast<int>(ids.size())).first->second);
    }
    return numbers;
  };
  const std::vector<int> a_ids = number(a), b_ids = number(b);
  const Comparison c(a_ids, b_ids, static_cast<int>(ids.size()));

  Writer writer(options);
  constexpr const char *kBold = "\033[1m", *kCyan = "\033[36m", *kRed = "\033[31m",
                       *kGreen = "\033[32m";
  writer.Line(kBold, "--- ", options.before_label);
  writer.Line(kBold, "+++ ", options.after_label);
  const int n = static_cast<int>(a.size()), m = static_cast<int>(b.size());
  for (int i = 0, j = 0; i < n || j < m;) {
    // The next change, then changes as long as at most 2 * context equal lines lie between.
    int start_i = i, start_j = j;
    while (start_i < n && start_j < m && !c.deleted[start_i] && !c.inserted[start_j]) {
      ++start_i, ++start_j;
    }
    if (start_i == n && start_j == m) break;
    int end_i = start_i, end_j = start_j, equal = 0;
    for (int p = start_i, q = start_j; equal <= 2 * options.context && (p < n || q < m);) {
      if (p < n && c.deleted[p]) {
        end_i = ++p, end_j = q, equal = 0;
      } else if (q < m && c.inserted[q]) {
        end_i = p, end_j = ++q, equal = 0;
      } else {
        ++p, ++q, ++equal;
      }
    }
    const int lead = std::min(options.context, start_i - i);
    const int trail = std::min({options.context, n - end_i, m - end_j});
    i = start_i - lead, j = start_j - lead;
    const int stop_i = end_i + trail, stop_j = end_j + trail;
    writer.Line(kCyan, "@@ ",
                "-" + RangeText(i, stop_i - i) + " +" + RangeText(j, stop_j - j) + " @@");
    while (i < stop_i || j < stop_j) {
      if (i < stop_i && c.deleted[i]) {
        writer.Line(kRed, "-", a[i++]);
      } else if (j < stop_j && c.inserted[j]) {
        writer.Line(kGreen, "+", b[j++]);
      } else {
        writer.Line("", " ", a[i]);
        ++i, ++j;
      }
    }
  }
  return std::move(writer.out);
}

}  // namespace tg::instrument
