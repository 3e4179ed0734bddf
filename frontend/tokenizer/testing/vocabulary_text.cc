#include "frontend/tokenizer/testing/vocabulary_text.h"

#include <charconv>
#include <cstdlib>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace tg::tokenizer {
namespace {

// Takes the text up to `separator`, or all of it, from `text`.
std::string_view Take(std::string_view& text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

std::optional<int64_t> Number(std::string_view text, int base = 10) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool SetField(std::string_view key, std::string_view value, TokenizerData& data) {
  const struct {
    std::string_view key;
    std::string& field;
  } strings[] = {{"architecture", data.architecture},
                 {"name", data.name},
                 {"model", data.model},
                 {"pre", data.pre}};
  for (const auto& row : strings) {
    if (row.key != key) continue;
    row.field = std::string(value);
    return true;
  }
  const struct {
    std::string_view key;
    std::optional<int64_t>& field;
  } ids[] = {{"bos_id", data.bos_id},         {"eos_id", data.eos_id},
             {"eot_id", data.eot_id},         {"eom_id", data.eom_id},
             {"unknown_id", data.unknown_id}, {"separator_id", data.separator_id},
             {"padding_id", data.padding_id}, {"mask_id", data.mask_id}};
  for (const auto& row : ids) {
    if (row.key != key) continue;
    row.field = Number(value);
    return row.field.has_value();
  }
  const struct {
    std::string_view key;
    std::optional<bool>& field;
  } flags[] = {{"add_bos", data.add_bos},
               {"add_eos", data.add_eos},
               {"add_separator", data.add_separator},
               {"add_space_prefix", data.add_space_prefix},
               {"lowercase", data.lowercase},
               {"strip_accents", data.strip_accents}};
  for (const auto& row : flags) {
    if (row.key != key) continue;
    row.field = value == "1";
    return value == "0" || value == "1";
  }
  return false;
}

bool AddToken(std::string_view line, TokenizerData& data) {
  const std::optional<int64_t> type = Number(Take(line, ' '));
  const std::string score(Take(line, ' '));
  std::optional<std::string> spelling = Unquote(line);
  char* end = nullptr;
  const float value = std::strtof(score.c_str(), &end);
  if (!type || !spelling || score.empty() || *end != '\0') return false;
  data.token_types.push_back(static_cast<int32_t>(*type));
  data.scores.push_back(value);
  data.tokens.push_back(*std::move(spelling));
  return true;
}

bool AddLine(std::string_view line, TokenizerData& data) {
  const std::string_view key = Take(line, ' ');
  if (key == "token") return AddToken(line, data);
  if (key != "merge") return SetField(key, line, data);
  std::optional<std::string> merge = Unquote(line);
  if (merge) data.merges.push_back(*std::move(merge));
  return merge.has_value();
}

}  // namespace

std::optional<std::string> Unquote(std::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') return std::nullopt;
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    if (++i == text.size()) return std::nullopt;
    constexpr std::string_view kLetters = "nrt\\\"", kMeanings = "\n\r\t\\\"";
    if (const size_t letter = kLetters.find(text[i]); letter != kLetters.npos) {
      out += kMeanings[letter];
      continue;
    }
    const std::optional<int64_t> byte = Number(text.substr(i + 1, 2), 16);
    if (text[i] != 'x' || i + 2 >= text.size() || !byte) return std::nullopt;
    out += static_cast<char>(*byte);
    i += 2;
  }
  return out;
}

absl::StatusOr<TokenizerData> ParseVocabularyText(std::string_view text) {
  TokenizerData data;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = Take(text, '\n');
    if (line.empty() || line.front() == '#') continue;
    if (!AddLine(line, data)) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", number, " of the vocabulary: ", std::string(line)));
    }
  }
  return data;
}

absl::StatusOr<std::vector<std::string>> ParseStrings(std::string_view text) {
  std::vector<std::string> strings;
  for (int number = 1; !text.empty(); ++number) {
    const std::string_view line = Take(text, '\n');
    std::optional<std::string> string = Unquote(line);
    if (!string) {
      return absl::InvalidArgumentError(
          absl::StrCat("line ", number, " is no quoted string: ", std::string(line)));
    }
    strings.push_back(*std::move(string));
  }
  return strings;
}

}  // namespace tg::tokenizer
