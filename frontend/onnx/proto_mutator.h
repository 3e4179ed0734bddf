// Mutations of protocol buffers that keep their framing: for fuzzing.
#ifndef TG_FRONTEND_ONNX_PROTO_MUTATOR_H_
#define TG_FRONTEND_ONNX_PROTO_MUTATOR_H_

#include <random>
#include <span>
#include <string>
#include <string_view>

namespace tg::onnx {

// `bytes` with one to three fields, at any depth, changed, repeated or removed. Lengths of the
// messages around them follow. Numbers become small or extreme ones, text becomes one of `words`,
// packed data become numbers of eight bytes. Bytes without the framing are returned unchanged.
std::string MutateProto(std::string_view bytes, std::span<const std::string_view> words,
                        std::mt19937& random);

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_PROTO_MUTATOR_H_
