// Checks for any bytes that the readers of pictures and sounds return an error, or contents of the
// size that they report, and that a picture is unchanged by writing and reading.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <string_view>

#include "base/status.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/CRC.h"
#include "llvm/Support/Endian.h"
#include "runtime/media/picture.h"
#include "runtime/media/sound.h"

namespace {

// A mutant's checksums are made right, since nothing else of it would be read.
void FixPngChecksums(uint8_t* data, size_t size) {
  constexpr size_t kSignature = 8, kAround = 12;
  for (size_t at = kSignature; at + kAround <= size;) {
    const size_t length = llvm::support::endian::read32be(data + at);
    if (length > size - at - kAround) return;
    llvm::support::endian::write32be(
        data + at + 8 + length, llvm::crc32(llvm::ArrayRef<uint8_t>(data + at + 4, length + 4)));
    at += kAround + length;
  }
}

}  // namespace

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  (void)max_size;
  if (size == 0) return 0;
  std::mt19937 random(seed);
  for (unsigned i = 0, count = 1 + random() % 4; i < count; ++i) {
    // Most of what the readers decide by is at the beginning.
    const size_t at = random() % (random() % 2 ? size : std::min<size_t>(size, 100));
    data[at] = static_cast<uint8_t>(random() % 3 ? random() : (random() % 2) * 255);
  }
  FixPngChecksums(data, size);
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace tg::runtime;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  if (const absl::StatusOr<Picture> picture = ParsePicture(bytes, "input"); picture.ok()) {
    const auto count = static_cast<size_t>(picture->height * picture->width * picture->channels);
    if (count == 0 || picture->data.size() != count) std::abort();
    constexpr size_t kSmall = 1 << 16;
    if (count > kSmall) return 0;
    const absl::StatusOr<std::string> png = EncodePng(*picture);
    if (!png.ok()) std::abort();
    const absl::StatusOr<Picture> again = ParsePicture(*png, "output");
    if (!again.ok() || again->data != picture->data) std::abort();
  }
  if (const absl::StatusOr<Sound> sound = ParseWav(bytes, "input"); sound.ok()) {
    if (sound->rate < 1 || sound->samples.size() > size) std::abort();
    const Sound other = Resample(*sound, 16000);
    const double most =
        1 + static_cast<double>(sound->samples.size()) * 16000 / static_cast<double>(sound->rate);
    if (static_cast<double>(other.samples.size()) > most + 1) std::abort();
  }
  return 0;
}
