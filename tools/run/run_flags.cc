#include "tools/run/run_flags.h"

#include <charconv>
#include <filesystem>
#include <map>
#include <string_view>

#include "base/status.h"
#include "tools/driver/input.h"

namespace tg::run {
namespace {

namespace fs = std::filesystem;

template <typename T>
bool ParseNumber(std::string_view text, T* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size();
}

// Whether the text is an integer that does not fit 64 bits.
bool IsTooLarge(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc::result_out_of_range && end == text.data() + text.size();
}

absl::StatusOr<NamedFile> ParseNamed(std::string_view option, const std::string& text,
                                     std::string_view form) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
    return InvalidArgument(option, " needs ", form, ", not '", text, "'");
  }
  const size_t at = text[0] == '@' ? 1 : 0;
  return NamedFile{text.substr(at, equals - at), text.substr(equals + 1), {}};
}

absl::StatusOr<NamedFile> ParseMedia(std::string_view option, const std::string& text,
                                     runtime::MediaUse use) {
  TG_ASSIGN_OR_RETURN(NamedFile named, ParseNamed(option, text, "NAME=FILE.npy"));
  absl::StatusOr<runtime::MediaFile> media = runtime::ParseMediaFile(named.file, use);
  if (!media.ok()) {
    return InvalidArgument(option, " ", named.name, ": ", std::string(media.status().message()));
  }
  named.file = media->path;
  named.media = *std::move(media);
  return named;
}

using NamedNumber = std::pair<std::string, int64_t>;

absl::StatusOr<NamedNumber> ParseNamedNumber(std::string_view option, const std::string& text) {
  TG_ASSIGN_OR_RETURN(const NamedFile named, ParseNamed(option, text, "NAME=NUMBER"));
  int64_t value = 0;
  if (IsTooLarge(named.file)) {
    return InvalidArgument(option, " ", text, ": the value does not fit in 64 bits");
  }
  if (!ParseNumber(named.file, &value)) {
    return InvalidArgument(option, " ", text, ": '", named.file, "' is not an integer");
  }
  return NamedNumber{named.name, value};
}

absl::StatusOr<Expectation> ParseExpectation(const std::string& text) {
  TG_ASSIGN_OR_RETURN(NamedFile named, ParseNamed("--expect", text, "NAME=FILE.npy[:TOLERANCE]"));
  Expectation expectation{named.name, named.file, {}};
  const size_t colon = named.file.rfind(':');
  if (colon == std::string::npos) return expectation;
  double tolerance = 0;
  const std::string number = named.file.substr(colon + 1);
  if (!ParseNumber(number, &tolerance) || !(tolerance >= 0)) {
    return InvalidArgument("--expect ", text, ": the tolerance '", number,
                           "' is not a number that is at least 0");
  }
  expectation.file.resize(colon);
  expectation.tolerance = tolerance;
  return expectation;
}

}  // namespace

void RunFlags::AddTo(driver::Flags& flags) {
  using runtime::DescribeMediaOptions, runtime::MediaKind, runtime::MediaUse;
  flags.Repeated(
      "input", "NAME=FILE.npy", &input_texts,
      "the contents of an input, or of a state before the first run; of an ONNX model also "
      "FILE.pb. "
      "A picture (FILE.png, .jpg, .bmp) or a sound (FILE.wav) is made to fit the input, by "
      "options, "
      "as in x=photo.jpg:size=224:mean=0.5 (in parentheses: what holds without the option)\n"
      "A picture's:" +
          DescribeMediaOptions(MediaKind::kPicture, MediaUse::kInput) +
          "\nA sound's:" + DescribeMediaOptions(MediaKind::kSound, MediaUse::kInput));
  flags.Repeated("output", "NAME=FILE.npy", &output_texts,
                 "where an output, or a state as the run leaves it, is written; as "
                 "FILE.safetensors also in types that npy lacks; as FILE.pb as ONNX has it; as "
                 "FILE.png a picture, with the "
                 "inverse of an input's options " +
                     runtime::MediaOptionNames(MediaKind::kPicture, MediaUse::kOutput));
  flags.Repeated("var", "NAME=NUMBER", &var_texts,
                 "the value of a variable, where no input's shape says it");
  flags.Repeated(
      "max", "NAME=NUMBER", &max_texts,
      "the greatest size of a dimension of an ONNX model: it stays variable up to there, "
      "and one compile serves all sizes");
  flags.String(
      "test-data", "DIR", &test_data,
      "inputs and expected outputs of an ONNX model, input_0.pb and output_0.pb and so on; "
      "the outputs are compared as its conformance tests do");
  flags.Int("random-inputs", "SEED", &random_inputs,
            "random numbers for every input that is not given");
  driver::AddInputFormat(flags, &input_format);
  flags.String("graph", "NAME", &graph, "what to run: by default main, or the only graph");
  flags.Repeated("device", "[NAME=]DEVICE", &device_texts,
                 "cpu, gpu, a number or part of a name from --list-devices; or reference, the "
                 "interpreter; by default a GPU where there is one; with NAME, what a device that "
                 "the module names is here");
  flags.Group("How it is compiled");
  flags.String("pass", "PIPELINE", &pass, "the passes to run, as for tg-opt");
  flags.String("schedule", "OPTIONS", &schedule,
               "options of the pass schedule in the pipeline, as in --schedule=none");
  flags.String("schedules", "FILE", &schedules,
               "measured schedules, as tg-tune --export writes them (docs/search.md): the kernels "
               "that it has get those; says for how many");
  flags.Int("search", "SECONDS", &search,
            "search for faster schedules first, by tg-tune, which remembers what it finds: a later "
            "search goes on (docs/search.md)");
  flags.String("opt", "OPTIONS", &schedule, "the former name of --schedule");
  flags.String("target", "NAME", &target,
               "a preset of tg-opt --list-targets, FILE.target as tg-calibrate writes it, or host: "
               "what the device reports; by default "
               "what the module says, else host");
  allowed.AddTo(flags);
  flags.Bool("float16", &float16,
             "store weights and activations as float16, compute in float32, and print the error "
             "against a run without");
  flags.Bool("cache", &cache, "keep compiled programs on disk (on by default)");
  flags.Bool("verify", &verify,
             "read the weights in a compiled model at the start, to find damage (on by default)");
  flags.Bool("specialize", &specialize,
             "compile sizes of --max that come again for themselves, while runs go on (on by "
             "default)");
  flags.Group("What to show of the results");
  flags.List("print", "NAME,...", &print, "the numbers of a tensor");
  flags.List("show", "NAME,...", &show, "the last two axes of a tensor as a picture of characters");
  flags.List("classify", "NAME,...", &classify,
             "the class with the highest score in each row of the last axis, with all scores and "
             "their softmax, unless the scores are probabilities already");
  flags.Repeated("labels", "FILE", &label_files,
                 "FILE.npy: the right classes, of which --classify counts how many are found; "
                 "another file: what the classes are called, one a line");
  flags.List("class-names", "TEXT,...", &class_names, "what classes 0, 1, ... are called");
  flags.Int("limit", "N", &limit_count,
            "rows, pictures or classes of one tensor to show at most (4); 0: all");
  flags.Group("What to check; the exit code is 1 where it does not hold");
  flags.Repeated("expect", "NAME=FILE.npy[:TOLERANCE]", &expect_texts,
                 "the numbers that must come out, within an absolute tolerance (1e-5 for floats)");
  flags.String("min-accuracy", "SHARE", &min_accuracy_text,
               "the share of rows that --classify must get right, e.g. 0.98");
  flags.OptionalChoice(
      "check", {"results", "kernels"}, "results", &check_text,
      "run the interpreter too, and compare within its bounds of rounding errors: the results; or "
      "each kernel on the device's own inputs, where the first that differs is written as a module "
      "that reproduces it");
  flags.Int("max-kernels", "N", &gates.max_kernels,
            "the number of kernels of a run, at most; checked before kernels are built");
  flags.String("max-memory", "SIZE", &max_memory_text,
               "the memory of all buffers, at most, e.g. 64MB or 1.5GiB; checked there too");
  flags.Group("What to say about the run");
  flags.Level("verbose", "LEVEL", 2, &verbose_level,
              "1: a summary; 2: a line a kernel; 3: how each was scheduled; 4: its source; 5: its "
              "linear form");
  flags.Choice("sort", {"launch", "time"}, &sort,
               "the order of the kernels that --verbose=2 lists; time: the slowest first, and the "
               "slowest nodes of an ONNX model");
  flags.Int("repeat", "N", &repeat_count,
            "run so many times; inputs stay, states go on; shown are least times");
  flags.String("profile", "FILE.json", &profile,
               "write a trace that ui.perfetto.dev and chrome://tracing open");
  flags.Repeated(
      "report", "FILE.html", &reports,
      "write a page with times, rates, sources, the graph of kernels and the memory over "
      "time; as FILE.json the same numbers, which tg-report compares");
  flags.String("dump-kernels", "DIR", &dump_kernels, "write the source of each kernel here");
  flags.Choice("color", {"auto", "always", "never"}, &color,
               "auto: where the output is a terminal and NO_COLOR is not set");
  flags.Group("Instead of all this, print");
  flags.Bool("list-devices", &list_devices, "the devices of this machine");
  flags.Bool("version", &version, "the version");
  flags.Bool("help", &help, "this text");
}

// If two results went to one file, the first would be lost.
absl::Status RunFlags::CheckFilesDiffer() const {
  std::map<fs::path, std::string> written;  // by path: the option that writes it
  const auto add = [&](const std::string& option, const std::string& file) -> absl::Status {
    std::error_code error;
    if (fs::exists(file, error) && !fs::is_regular_file(file, error)) return absl::OkStatus();
    fs::path path = fs::weakly_canonical(fs::absolute(file, error), error);
    if (error) return absl::OkStatus();  // writing it reports the error
    const auto [old, is_new] = written.try_emplace(std::move(path), option);
    if (is_new) return absl::OkStatus();
    return InvalidArgument(old->second, " and ", option, " are written to one file, ", file);
  };
  for (const NamedFile& output : outputs) {
    TG_RETURN_IF_ERROR(add("--output " + output.name, output.file));
  }
  for (const std::string& report : reports) TG_RETURN_IF_ERROR(add("--report", report));
  return profile.empty() ? absl::OkStatus() : add("--profile", profile);
}

absl::Status RunFlags::Interpret() {
  for (const std::string& text : input_texts) {
    TG_ASSIGN_OR_RETURN(NamedFile named, ParseMedia("--input", text, runtime::MediaUse::kInput));
    inputs.push_back(std::move(named));
  }
  for (const std::string& text : output_texts) {
    TG_ASSIGN_OR_RETURN(NamedFile named, ParseMedia("--output", text, runtime::MediaUse::kOutput));
    outputs.push_back(std::move(named));
  }
  for (const std::string& report : reports) {
    if (report.ends_with(".html") || report.ends_with(".json")) continue;
    return InvalidArgument("--report=", report, ": a report is a page, FILE.html, or FILE.json");
  }
  TG_RETURN_IF_ERROR(CheckFilesDiffer());
  for (const std::string& text : expect_texts) {
    TG_ASSIGN_OR_RETURN(Expectation expectation, ParseExpectation(text));
    expectations.push_back(std::move(expectation));
  }
  for (const std::string& text : var_texts) {
    TG_ASSIGN_OR_RETURN(const NamedNumber named, ParseNamedNumber("--var", text));
    vars[named.first] = named.second;
  }
  for (const std::string& text : max_texts) {
    TG_ASSIGN_OR_RETURN(const NamedNumber named, ParseNamedNumber("--max", text));
    if (named.second < 1) return InvalidArgument("--max ", text, ": a size is at least 1");
    max_sizes[named.first] = named.second;
  }
  absl::StatusOr<runtime::DeviceRequest> request = runtime::ParseDeviceRequest(device_texts);
  if (!request.ok()) {
    return InvalidArgument("--device: ", std::string(request.status().message()));
  }
  devices = *std::move(request);
  if (devices.plain == "reference" && !devices.named.empty()) {
    return InvalidArgument("--device=reference is the interpreter, which has no other devices");
  }
  if (verbose_level && (*verbose_level < 0 || *verbose_level > 5)) {
    return InvalidArgument("--verbose must be 0 to 5, not ", *verbose_level);
  }
  verbose = static_cast<int>(verbose_level.value_or(0));
  if (sort != "launch" && verbose < 2) {
    return InvalidArgument("--sort orders the kernels that --verbose=2 lists");
  }
  repeat = repeat_count.value_or(1);
  if (search.value_or(1) < 1) return InvalidArgument("--search is at least 1, not ", *search);
  if (search && !schedules.empty()) {
    return InvalidArgument("--search and --schedules: the search finds the schedules");
  }
  if (repeat < 1) return InvalidArgument("--repeat must be at least 1, not ", repeat);
  limit = limit_count.value_or(limit);
  if (limit < 0) return InvalidArgument("--limit must be at least 0, not ", limit);
  if (!min_accuracy_text.empty()) {
    double share = 0;
    if (!ParseNumber(min_accuracy_text, &share) || !(share >= 0 && share <= 1)) {
      return InvalidArgument("--min-accuracy must be from 0 to 1, not '", min_accuracy_text, "'");
    }
    min_accuracy = share;
  }
  if (gates.max_kernels && *gates.max_kernels < 0) {
    return InvalidArgument("--max-kernels must be at least 0, not ", *gates.max_kernels);
  }
  if (!max_memory_text.empty()) {
    absl::StatusOr<int64_t> bytes = ParseByteSize(max_memory_text);
    if (!bytes.ok()) {
      return InvalidArgument("--max-memory: ", std::string(bytes.status().message()));
    }
    gates.max_memory_bytes = *bytes;
    gates.max_memory_text = max_memory_text;
  }
  for (const std::string& file : label_files) {
    std::string& which = file.ends_with(".npy") ? labels : class_name_file;
    if (!which.empty()) {
      return InvalidArgument("--labels: ", which, " and ", file, " say the same thing");
    }
    which = file;
  }
  if (!class_names.empty() && !class_name_file.empty()) {
    return InvalidArgument("--class-names and --labels=", class_name_file, " say the same thing");
  }
  if (min_accuracy && labels.empty())
    return InvalidArgument("--min-accuracy needs --labels=FILE.npy");
  if (!label_files.empty() && classify.empty()) return InvalidArgument("--labels needs --classify");
  check = check_text == "results";
  check_kernels = check_text == "kernels";
  if (check_kernels && (!profile.empty() || !reports.empty())) {
    return InvalidArgument("--check=kernels runs kernels one by one, so there are no times for ",
                           profile.empty() ? "--report" : "--profile");
  }
  if ((check || check_kernels) && devices.plain == "reference") {
    return InvalidArgument(
        "--check compares a device with the interpreter; --device=reference is "
        "the interpreter");
  }
  if (check && float16) {
    return InvalidArgument(
        "--check compares with the interpreter, which computes in float32; --float16 prints its "
        "own error");
  }
  return absl::OkStatus();
}

}  // namespace tg::run
