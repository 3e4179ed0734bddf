// Mutations of protocol buffers that keep their framing: for fuzzing.
#ifndef TG_FRONTEND_ONNX_PROTO_MUTATOR_H_
#define TG_FRONTEND_ONNX_PROTO_MUTATOR_H_

#include <random>
#include <span>
#include <string>
#include <string_view>

namespace tg::onnx {

// Changes, repeats or removes one to three fields at any depth, and updates the lengths of the
// enclosing messages. Numbers become small or extreme, text becomes one of `words`, and packed data
// become eight-byte numbers. Bytes that are not a protocol buffer are returned unchanged.
std::string MutateProto(std::string_view bytes, std::span<const std::string_view> words,
                        std::mt19937& random);

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_PROTO_MUTATOR_H_
