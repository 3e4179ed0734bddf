// Runs a compiled model on zeros with nothing but the runtime library:
//   run_artifact model.tgx [runs]
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <utility>

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
  const int runs = argc > 2 ? std::atoi(argv[2]) : 1;
  double first = 0;
  for (int i = 0; i < runs; ++i) {
    if (absl::Status s = session.Run(); !s.ok()) return Fail(s);
    if (i == 0) first = Milliseconds(start);
  }
  std::printf("opened in %.2f ms, first result after %.2f ms, a run %.3f ms\n", open, first,
              runs > 1 ? (Milliseconds(start) - first) / (runs - 1) : 0.0);
  for (const BufferDecl& buffer : session.declarations().buffers) {
    if (buffer.role != Role::kOutput) continue;
    const auto tensor = session.Get(buffer.name);
    if (!tensor.ok()) return Fail(tensor.status());
    std::printf("%s %s\n", buffer.name.c_str(),
                runtime::TypeAndShape(tensor->type, tensor->shape).c_str());
  }
  return 0;
}
