#include "tools/tune/tune_flags.h"

#include "absl/strings/numbers.h"
#include "base/status.h"
#include "tools/driver/input.h"

namespace tg::tune {

void TuneFlags::AddTo(driver::Flags& flags) {
  flags.List("devices", "DEVICE,...", &devices,
             "where to measure, as for tg-run's --device; by default a GPU where there is one. "
             "Devices that are alike share the kernels");
  flags.Int("budget", "SECONDS", &budget, "how long to search (60)");
  flags.Int("deadline", "SECONDS", &deadline,
            "what a schedule may take, besides ten times what the first one takes (10); then its "
            "process is ended");
  flags.Int("sample", "N", &sample,
            "no search: measure N schedules of each kernel, half of them proposed by rules, half "
            "drawn at random, for --report");
  flags.String(
      "record", "FILE", &record,
      "an SQLite database of what was measured, which a later search continues; by default "
      "schedules.sqlite in tg's cache folder");
  flags.String("graph", "NAME", &graph, "which graph: by default main, or the only graph");
  driver::AddInputFormat(flags, &input_format);
  sizes.AddTo(flags);
  flags.Repeated("set", "NAME=NUMBER", &var_texts,
                 "the value of a module's variable in the runs; by default its greatest one");
  flags.Int("seed", "N", &seed, "of the random inputs (1)");
  flags.String("target", "NAME", &target, "a preset or a file, as for tg-run");
  flags.String("pass", "PIPELINE", &pass, "the passes to run, as for tg-opt");
  allowed.AddTo(flags);
  flags.Bool("float16", &float16, "store weights and activations as float16, as tg-run does");
  flags.Group("What to do with the record, with a model or without");
  flags.String(
      "export", "FILE", &export_file,
      "write the best schedules as text, for --schedules of tg-run, tg-llm and tg-compile");
  flags.Repeated("merge", "FILE", &merged,
                 "add the schedules of another such file to what --export writes; of two for one "
                 "kernel and device, the one that gains more is kept");
  flags.Bool("report", &report, "print measured and predicted times");
  flags.Group("Instead of all this, print");
  flags.Bool("list-devices", &list_devices, "the devices of this machine");
  flags.Bool("version", &version, "the version");
  flags.Bool("help", &help, "this text");
}

absl::Status TuneFlags::Interpret() {
  TG_RETURN_IF_ERROR(sizes.Parse());
  for (const std::string& text : var_texts) {
    const size_t equals = text.rfind('=');
    int64_t value = 0;
    if (equals == 0 || equals == std::string::npos ||
        !absl::SimpleAtoi(text.substr(equals + 1), &value)) {
      return InvalidArgument("--set needs NAME=NUMBER, not '", text, "'");
    }
    vars[text.substr(0, equals)] = value;
  }
  for (const auto& [option, value] :
       {std::pair("--budget", budget), std::pair("--deadline", deadline)}) {
    if (value.value_or(1) < 1) return InvalidArgument(option, " is at least 1, not ", *value);
  }
  if (sample.value_or(4) < 4) return InvalidArgument("--sample is at least 4, not ", *sample);
  if (!merged.empty() && export_file.empty()) {
    return InvalidArgument("--merge adds to what --export writes");
  }
  if (devices.empty()) devices = {""};
  return absl::OkStatus();
}

}  // namespace tg::tune
