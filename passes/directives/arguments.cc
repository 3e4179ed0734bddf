#include "passes/directives/arguments.h"

#include "absl/strings/str_cat.h"

namespace tg::directive {

void ArgReader::operator()(std::string& name) {
  const DirectiveArg* arg = Next();
  if (!arg) {
    problem_ = "an argument is missing";
  } else if (arg->ident.empty()) {
    problem_ = "an axis is named, not numbered";
  } else {
    name = arg->ident;
    ++next_;
  }
}

void ArgReader::operator()(std::vector<std::string>& names) {
  do {
    (*this)(names.emplace_back());
  } while (!problem_ && Next());
}

void ArgReader::operator()(std::optional<std::string>& name) {
  if (!Next()) return;
  (*this)(name.emplace());
}

void ArgReader::operator()(int64_t& number) {
  const DirectiveArg* arg = Next();
  if (!arg) {
    problem_ = "an argument is missing";
  } else if (!arg->ident.empty()) {
    problem_ = "an amount is a number";
  } else {
    number = arg->number;
    ++next_;
  }
}

void ArgReader::operator()(std::optional<int64_t>& number) {
  if (!Next()) return;
  (*this)(number.emplace());
}

void ArgReader::operator()(ItemsOrAxis& either) {
  const DirectiveArg* arg = Next();
  if (!arg) return;
  ++next_;
  if (arg->ident.empty()) {
    either = arg->number;
  } else {
    either = arg->ident;
  }
}

void ArgReader::operator()(CopyPlace& place) {
  const DirectiveArg* arg = Next();
  if (!arg) return;
  place.is_local = arg->ident == "local";
  if (!place.is_local) return;
  ++next_;
  arg = Next();
  if (!arg) return;
  place.ahead = arg->ident == "ahead";
  const bool is_few = arg->ident.empty() && (arg->number == 1 || arg->number == 2);
  if (!place.ahead && !is_few) return;
  place.buffers = place.ahead ? 2 : arg->number;
  ++next_;
  arg = place.ahead ? Next() : nullptr;
  if (!arg || !arg->ident.empty() || arg->number < 3 || arg->number > CopyPlace::kMaxBuffers) {
    return;
  }
  place.buffers = arg->number;
  ++next_;
}

absl::Status ArgReader::Finish(const Doc& doc) const {
  const char* why = problem_;
  if (!why && next_ < text_.args.size()) why = "an argument is unknown";
  if (!why) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(why, "; the form is ", std::string(doc.usage)));
}

void ArgWriter::operator()(const std::vector<std::string>& names) {
  for (const std::string& name : names) (*this)(name);
}

void ArgWriter::operator()(const std::optional<std::string>& name) {
  if (name) (*this)(*name);
}

void ArgWriter::operator()(const std::optional<int64_t>& number) {
  if (number) (*this)(*number);
}

void ArgWriter::operator()(const ItemsOrAxis& either) {
  if (const auto* items = std::get_if<int64_t>(&either)) (*this)(*items);
  if (const auto* axis = std::get_if<std::string>(&either)) (*this)(*axis);
}

void ArgWriter::operator()(const CopyPlace& place) {
  if (!place.is_local) return;
  (*this)(std::string("local"));
  if (place.ahead) {
    (*this)(std::string("ahead"));
    if (place.buffers > 2) (*this)(place.buffers);
  } else if (place.buffers > 1) {
    (*this)(place.buffers);
  }
}

}  // namespace tg::directive
