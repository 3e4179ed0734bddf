#include "runtime/opencl/compile_job.h"

#include <charconv>

#include "base/status.h"

namespace tg::runtime {
namespace {

constexpr std::string_view kMagic = "tg compile job 1";

// Takes the text up to the next `end`, which must exist.
bool Take(std::string_view& text, char end, std::string_view& out) {
  const size_t at = text.find(end);
  if (at == std::string_view::npos) return false;
  out = text.substr(0, at);
  text.remove_prefix(at + 1);
  return true;
}

template <typename T>
bool TakeNumber(std::string_view& text, char end, T& out) {
  std::string_view digits;
  if (!Take(text, end, digits)) return false;
  const auto [p, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out);
  return error == std::errc() && p == digits.data() + digits.size();
}

bool TakeText(std::string_view& text, std::string& out) {
  std::string_view line;
  if (!Take(text, '\n', line)) return false;
  out = line;
  return true;
}

// A kernel: `name x y z count`, then `bytes value` for each argument; a buffer has 0 bytes.
bool TakeKernel(std::string_view& text, CompileJob::Kernel& kernel) {
  std::string_view name;
  size_t arguments = 0;
  if (!Take(text, ' ', name)) return false;
  kernel.name = name;
  for (size_t& n : kernel.local) {
    if (!TakeNumber(text, ' ', n)) return false;
  }
  if (!TakeNumber(text, '\n', arguments) || arguments > text.size()) return false;
  for (size_t i = 0; i < arguments; ++i) {
    CompileJob::Argument a;
    if (!TakeNumber(text, ' ', a.bytes) || !TakeNumber(text, '\n', a.value)) return false;
    if (a.bytes != 0 && a.bytes != 4 && a.bytes != 8) return false;
    a.is_buffer = a.bytes == 0;
    kernel.arguments.push_back(a);
  }
  return true;
}

}  // namespace

std::string JobText(const CompileJob& job) {
  std::string out = Cat(kMagic, "\n", job.platform, "\n", job.device, "\n", job.options, "\n",
                        job.buffer_bytes, "\n", job.kernels.size(), "\n");
  for (const CompileJob::Kernel& kernel : job.kernels) {
    out += Cat(kernel.name, " ", kernel.local[0], " ", kernel.local[1], " ", kernel.local[2], " ",
               kernel.arguments.size(), "\n");
    for (const CompileJob::Argument& a : kernel.arguments) {
      out += Cat(a.is_buffer ? 0 : a.bytes, " ", a.value, "\n");
    }
  }
  return out + job.source;
}

absl::StatusOr<CompileJob> ParseJob(std::string_view text) {
  CompileJob job;
  std::string_view magic;
  size_t kernels = 0;
  bool ok = Take(text, '\n', magic) && magic == kMagic && TakeText(text, job.platform) &&
            TakeText(text, job.device) && TakeText(text, job.options) &&
            TakeNumber(text, '\n', job.buffer_bytes) && TakeNumber(text, '\n', kernels);
  for (size_t i = 0; ok && i < kernels; ++i) {
    job.kernels.emplace_back();
    ok = TakeKernel(text, job.kernels.back());
  }
  if (!ok) return InvalidArgument("this is no job of a compile worker");
  job.source = text;
  return job;
}

}  // namespace tg::runtime
