// Runs a compiled model on zeros with nothing but the runtime library:
//   run_artifact model.tgx [runs]
// tells how long it took, and what the outputs are.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "runtime/artifact/open_artifact.h"
#include "runtime/session/tensors.h"

namespace {

int Fail(const absl::Status& status) {
  std::fprintf(stderr, "run_artifact: %s\n", std::string(status.message()).c_str());
  return 1;
}

double Milliseconds(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - since)
      .count();
}

}  // namespace

int main(int argc, char** argv) {
  using namespace tg;  // NOLINT
  if (argc < 2) return Fail(absl::InvalidArgumentError("run_artifact model.tgx [runs]"));
  const auto start = std::chrono::steady_clock::now();
  auto opened = artifact::OpenArtifact(argv[1]);
  if (!opened.ok()) return Fail(opened.status());
  runtime::DeviceSession& session = **opened;
  const double open = Milliseconds(start);
  for (const BufferDecl& buffer : session.declarations().buffers) {
    const auto type = runtime::ElementTypeOf(buffer.dtype.scalar());
    if (buffer.role != Role::kInput || !type) continue;
    const auto shape = runtime::GreatestShape(session.declarations(), buffer);
    if (!shape.ok()) return Fail(shape.status());
    const auto zeros = runtime::MakeHostTensor(*type, *shape);
    if (!zeros.ok()) return Fail(zeros.status());
    if (absl::Status s = session.Set(buffer.name, *zeros); !s.ok()) return Fail(s);
  }
  const int runs = std::max(1, argc > 2 ? std::atoi(argv[2]) : 1);
  if (absl::Status s = session.Run(); !s.ok()) return Fail(s);
  std::printf("opened in %.2f ms, first result after %.2f ms\n", open, Milliseconds(start));
  std::vector<float> times(static_cast<size_t>(runs));  // of later runs
  for (float& time : times) {
    const auto begin = std::chrono::steady_clock::now();
    if (absl::Status s = session.Run(); !s.ok()) return Fail(s);
    time = static_cast<float>(Milliseconds(begin));
  }
  std::sort(times.begin(), times.end());
  const auto share = [&](double p) { return times[static_cast<size_t>(p * (runs - 1))]; };
  std::printf("%d runs: least %.4f ms, median %.4f ms, 99%% within %.4f ms\n", runs, times[0],
              share(0.5), share(0.99));
  for (const BufferDecl& buffer : session.declarations().buffers) {
    if (buffer.role != Role::kOutput) continue;
    const auto tensor = session.Get(buffer.name);
    if (!tensor.ok()) return Fail(tensor.status());
    std::printf("%s %s\n", buffer.name.c_str(),
                runtime::TypeAndShape(tensor->type, tensor->shape).c_str());
  }
  return 0;
}
