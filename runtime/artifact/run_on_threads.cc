// Runs a compiled model on many threads at once, each with other inputs, in sessions that share
// the weights, and compares the results with those of one thread:
//   run_on_threads model.tgx [threads] [runs]
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/status.h"
#include "runtime/artifact/open_artifact.h"
#include "runtime/session/tensors.h"

namespace tg::artifact {
namespace {

using runtime::HostTensor;
using runtime::Session;
using Results = std::vector<HostTensor>;

// Numbers of 0 to 1 that depend on the seed; integers are 0 or 1.
absl::Status SetInputs(Session& session, uint32_t seed) {
  for (const BufferDecl& buffer : session.declarations().buffers) {
    const auto type = runtime::ElementTypeOf(buffer.dtype.scalar());
    if (buffer.role != Role::kInput || !type) continue;
    TG_ASSIGN_OR_RETURN(auto shape, runtime::GreatestShape(session.declarations(), buffer));
    TG_ASSIGN_OR_RETURN(HostTensor tensor, runtime::MakeHostTensor(*type, std::move(shape)));
    const auto element = static_cast<size_t>(ByteSize(buffer.dtype.scalar()));
    for (size_t at = 0; at < tensor.data.size(); at += element) {
      seed = seed * 1664525 + 1013904223;
      const float value = static_cast<float>(seed >> 8) / (1 << 24);
      if (*type == runtime::ElementType::kF32) {
        std::memcpy(&tensor.data[at], &value, sizeof value);
      } else if (!buffer.dtype.is_float()) {
        tensor.data[at] = std::byte{static_cast<unsigned char>(seed >> 31)};
      }
    }
    TG_RETURN_IF_ERROR(session.Set(buffer.name, tensor));
  }
  return absl::OkStatus();
}

absl::StatusOr<Results> RunOn(Session& session, uint32_t seed) {
  TG_RETURN_IF_ERROR(SetInputs(session, seed));
  TG_RETURN_IF_ERROR(session.Run());
  Results results;
  for (const BufferDecl& buffer : session.declarations().buffers) {
    if (buffer.role != Role::kOutput) continue;
    TG_ASSIGN_OR_RETURN(results.emplace_back(), session.Get(buffer.name));
  }
  return results;
}

// States go on from run to run; a new session has them as at their start.
absl::StatusOr<Results> RunOnSibling(Session& session, uint32_t seed) {
  TG_ASSIGN_OR_RETURN(const std::unique_ptr<Session> sibling, session.NewSibling());
  return RunOn(*sibling, seed);
}

bool AreSame(const Results& a, const Results& b) {
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].shape != b[i].shape || a[i].data != b[i].data) return false;
  }
  return a.size() == b.size();
}

absl::Status RunOnThreads(const std::string& path, int threads, int runs) {
  constexpr uint32_t kSeeds = 7;
  TG_ASSIGN_OR_RETURN(const std::unique_ptr<Session> first, OpenArtifact(path));
  std::vector<Results> expected;
  for (uint32_t seed = 0; seed < kSeeds; ++seed) {
    TG_ASSIGN_OR_RETURN(expected.emplace_back(), RunOnSibling(*first, seed));
  }
  const std::vector<BufferDecl>& buffers = first->declarations().buffers;
  const bool has_states = std::any_of(buffers.begin(), buffers.end(),
                                      [](const BufferDecl& b) { return b.role == Role::kState; });
  std::atomic<int> wrong = 0, failed = 0;
  const auto work = [&](int thread, Session& session) {
    for (int run = 0; run < runs; ++run) {
      const uint32_t seed = static_cast<uint32_t>(thread + run) % kSeeds;
      const absl::StatusOr<Results> own =
          has_states ? RunOnSibling(session, seed) : RunOn(session, seed);
      failed += !own.ok();
      wrong += own.ok() && !AreSame(*own, expected[seed]);
    }
  };
  std::vector<std::unique_ptr<Session>> sessions;
  for (int t = 0; t < threads; ++t) {
    // Each third one maps the file again.
    if (t % 3 == 2) {
      TG_ASSIGN_OR_RETURN(sessions.emplace_back(), OpenArtifact(path));
    } else {
      TG_ASSIGN_OR_RETURN(sessions.emplace_back(), first->NewSibling());
    }
  }
  std::vector<std::thread> all;
  for (int t = 0; t < threads; ++t) {
    all.emplace_back(work, t, std::ref(*sessions[static_cast<size_t>(t)]));
  }
  for (std::thread& thread : all) thread.join();
  std::printf("%d threads, %d runs each: %d failed, %d wrong\n", threads, runs, failed.load(),
              wrong.load());
  return failed + wrong == 0 ? absl::OkStatus() : absl::InternalError("results differ");
}

}  // namespace
}  // namespace tg::artifact

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "run_on_threads: model.tgx [threads] [runs]\n");
    return 2;
  }
  const auto number = [&](int i, int otherwise) {
    return argc > i ? std::atoi(argv[i]) : otherwise;
  };
  const absl::Status status = tg::artifact::RunOnThreads(argv[1], number(2, 10), number(3, 20));
  if (status.ok()) return 0;
  std::fprintf(stderr, "run_on_threads: %s\n", std::string(status.message()).c_str());
  return 1;
}
