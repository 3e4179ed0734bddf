// A compression of texts that repeat themselves, as kernels' sources do, from which a text is
// unpacked fast and by little code.
//
// The packed form is a list of steps: a number of bytes and the bytes; then the length of a part of
// what is unpacked so far, less 3, and how many bytes before the end it begins. A part may reach
// beyond that end, into itself. 0 in place of the length ends the list. A number has 7 bits a byte,
// the lowest first; all bytes but its last have the bit 128.
#ifndef TG_RUNTIME_ARTIFACT_COMPRESS_H_
#define TG_RUNTIME_ARTIFACT_COMPRESS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace tg::artifact {

// `text` is shorter than 4 GiB.
std::string Pack(std::string_view text);

// None if `packed` is not the packed form of exactly `size` bytes.
std::optional<std::string> Unpack(std::string_view packed, size_t size);

}  // namespace tg::artifact

#endif  // TG_RUNTIME_ARTIFACT_COMPRESS_H_
