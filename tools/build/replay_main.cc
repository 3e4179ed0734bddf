// main() of a fuzz_target() in an ordinary build: runs the fuzzed function on each file named on
// the command line and on --mutations=N damaged copies of each, then on --random=N byte strings
// from a fixed seed. A finding is a crash.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

constexpr std::string_view kRandomFlag = "--random=";
constexpr std::string_view kMutationsFlag = "--mutations=";
constexpr size_t kMaxRandomBytes = 512;

void RunRandom(int runs) {
  std::mt19937 generator(42);
  std::vector<uint8_t> input;
  for (int run = 0; run < runs; ++run) {
    input.resize(generator() % kMaxRandomBytes);
    for (uint8_t& byte : input) byte = static_cast<uint8_t>(generator());
    LLVMFuzzerTestOneInput(input.data(), input.size());
  }
}

// One to four small damages: a changed bit, byte or decimal digit, a cut, a repeated or removed
// piece.
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
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  std::mt19937 generator(42);
  for (int run = 0; run < mutations; ++run) {
    std::string damaged = bytes;
    Damage(damaged, generator);
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(damaged.data()), damaged.size());
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
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
