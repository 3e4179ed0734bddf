// The command line of tg-run.
#ifndef TG_TOOLS_RUN_RUN_FLAGS_H_
#define TG_TOOLS_RUN_RUN_FLAGS_H_

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/media/options.h"
#include "runtime/plan/extents.h"
#include "runtime/session/device_request.h"
#include "tools/driver/flags.h"
#include "tools/driver/input.h"
#include "tools/run/gates.h"

namespace tg::run {

// NAME=FILE, with options if the file is a picture or a sound.
struct NamedFile {
  std::string name, file;
  runtime::MediaFile media;
};

// NAME=FILE[:TOLERANCE].
struct Expectation {
  std::string name, file;
  std::optional<double> tolerance;
};

struct RunFlags {
  // The texts of the command line.
  std::vector<std::string> input_texts, output_texts, var_texts, max_texts, expect_texts,
      device_texts;
  std::vector<std::string> print, show, classify, class_names;
  std::vector<std::string> label_files;
  std::string test_data;
  std::vector<std::string> reports;
  std::string graph, target, pass = "default", schedule, schedules, dump_kernels, profile;
  std::string color = "auto", sort = "launch", input_format = "auto", min_accuracy_text,
              max_memory_text;
  std::optional<int64_t> verbose_level, repeat_count, random_inputs, limit_count, search;
  bool cache = true, specialize = true, verify = true, float16 = false, list_devices = false,
       version = false, help = false;

  std::string check_text;  // of --check: empty, results or kernels

  // The values that Interpret parses from the texts.
  bool check = false, check_kernels = false;
  std::vector<NamedFile> inputs, outputs;
  std::vector<Expectation> expectations;
  std::string labels, class_name_file;  // of --labels: the npy file and the text
  runtime::VarMap vars;
  std::map<std::string, int64_t, std::less<>> max_sizes;
  runtime::DeviceRequest devices;
  driver::AllowedFlags allowed;
  int verbose = 0;
  int64_t repeat = 1, limit = 4;
  std::optional<double> min_accuracy;
  Gates gates;

  void AddTo(driver::Flags& flags);
  // Parses the texts into values. Errors name the option.
  absl::Status Interpret();

 private:
  absl::Status CheckFilesDiffer() const;
};

}  // namespace tg::run

#endif  // TG_TOOLS_RUN_RUN_FLAGS_H_
