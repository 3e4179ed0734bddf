// main() of a fuzz_target() in an ordinary build: runs the fuzzed function on each file named on
// the command line and on --mutations=N damaged copies of each, then on --random=N byte strings
// from a fixed seed. Where the target has a mutator (LLVMFuzzerCustomMutator), it makes every
// second copy. A finding is a crash, whose input is written to FUZZ_CRASH, or to crash.input.

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
extern "C" __attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                                                size_t max_size, unsigned int seed);

namespace {

constexpr std::string_view kRandomFlag = "--random=";
constexpr std::string_view kMutationsFlag = "--mutations=";
constexpr size_t kMaxRandomBytes = 512;

std::string crash_path;
const std::string* input_of_run = nullptr;

extern "C" void KeepInput(int signal) {
  const int file = open(crash_path.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0644);
  if (file >= 0 && write(file, input_of_run->data(), input_of_run->size()) >= 0) close(file);
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void Run(const std::string& input) {
  input_of_run = &input;
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
}

void RunRandom(int runs) {
  std::mt19937 generator(42);
  std::string input;
  for (int run = 0; run < runs; ++run) {
    input.resize(generator() % kMaxRandomBytes);
    for (char& byte : input) byte = static_cast<char>(generator());
    Run(input);
  }
}

// Applies one to four mutations: a flipped bit, a changed byte or decimal digit, a truncation, a
// repeated or removed piece.
void Damage(std::string& bytes, std::mt19937& generator) {
  for (int damages = 1 + generator() % 4; damages > 0 && !bytes.empty(); --damages) {
    const size_t at = generator() % bytes.size();
    const size_t length = 1 + generator() % 8;
    switch (generator() % 6) {
      case 0:
        bytes[at] ^= static_cast<char>(1 << generator() % 8);
        break;
      case 1:
        bytes[at] = static_cast<char>(generator());
        break;
      case 2:
        if (bytes[at] >= '0' && bytes[at] <= '9') bytes[at] = '0' + generator() % 10;
        break;
      case 3:
        bytes.resize(at);
        break;
      case 4:
        bytes.insert(at, bytes.substr(generator() % bytes.size(), length));
        break;
      case 5:
        bytes.erase(at, length);
        break;
    }
  }
}

bool RunFile(const char* path, int mutations) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    std::fprintf(stderr, "%s: cannot be read\n", path);
    return false;
  }
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  Run(bytes);
  std::mt19937 generator(42);
  for (int run = 0; run < mutations; ++run) {
    std::string damaged = bytes;
    if (LLVMFuzzerCustomMutator != nullptr && run % 2 == 1) {
      damaged.resize(2 * bytes.size() + kMaxRandomBytes);
      auto* data = reinterpret_cast<uint8_t*>(damaged.data());
      const auto seed = static_cast<unsigned int>(generator());
      damaged.resize(LLVMFuzzerCustomMutator(data, bytes.size(), damaged.size(), seed));
    } else {
      Damage(damaged, generator);
    }
    Run(damaged);
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const char* path = std::getenv("FUZZ_CRASH");
  crash_path = path != nullptr ? path : "crash.input";
  for (const int signal : {SIGABRT, SIGFPE, SIGSEGV, SIGILL}) std::signal(signal, KeepInput);
  int random_runs = 0, mutations = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument.substr(0, kRandomFlag.size()) == kRandomFlag) {
      random_runs = std::atoi(argv[i] + kRandomFlag.size());
    } else if (argument.substr(0, kMutationsFlag.size()) == kMutationsFlag) {
      mutations = std::atoi(argv[i] + kMutationsFlag.size());
    } else if (!RunFile(argv[i], mutations)) {
      return 1;
    }
  }
  RunRandom(random_runs);
}
