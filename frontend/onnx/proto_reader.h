// Reading of protocol buffers with protozero, for the files proto*.cc, which have exceptions.
#ifndef TG_FRONTEND_ONNX_PROTO_READER_H_
#define TG_FRONTEND_ONNX_PROTO_READER_H_

#include <cstdint>
#include <string_view>

#include "frontend/onnx/proto.h"
#include "protozero/pbf_reader.hpp"

namespace tg::onnx {

using protozero::pbf_reader;
using protozero::pbf_wire_type;

// Graphs nested too deeply, or a field of a wire type that the format does not have.
struct FormatError {
  const char* what;
};

inline std::string_view View(const protozero::data_view& view) {
  return {view.data(), view.size()};
}
inline std::string_view String(pbf_reader& r) { return View(r.get_view()); }

inline void Need(const pbf_reader& r, pbf_wire_type type) {
  if (r.wire_type() != type) throw FormatError{"a field of another wire type"};
}
inline pbf_reader Message(pbf_reader& r) {
  Need(r, pbf_wire_type::length_delimited);
  return r.get_message();
}
inline int64_t Int(pbf_reader& r) {
  Need(r, pbf_wire_type::varint);
  return r.get_int64();
}
inline std::string_view Text(pbf_reader& r) {
  Need(r, pbf_wire_type::length_delimited);
  return String(r);
}

// The name and the type of an input or output.
ValueInfo ReadValueInfo(pbf_reader r);

}  // namespace tg::onnx

#endif  // TG_FRONTEND_ONNX_PROTO_READER_H_
