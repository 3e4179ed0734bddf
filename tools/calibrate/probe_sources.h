// The kernels of the probes, in OpenCL C.
#ifndef TG_TOOLS_CALIBRATE_PROBE_SOURCES_H_
#define TG_TOOLS_CALIBRATE_PROBE_SOURCES_H_

#include <string>

#include "ir/dtype.h"

namespace tg::calibrate {

// Independent chains of multiply-adds in a work-item: more than the latency of one times the number
// that start in a cycle, and few enough for sixteen registers.
inline constexpr int kChains = 10;

// Kernels copy, scale, sum (groups read memory once), read_again and write_again (a group accesses
// the same memory `times` times), and nothing, in vectors of `width` floats.
std::string MemorySource(int width);

// A kernel multiply_add of f16, f32, f64 or i32.
std::string MultiplyAddSource(Scalar type, int width);

// A kernel matrix of matrix instructions in inline PTX, kChains in each step: products of 16 x 16
// by 16 x 8 halves, added to floats, which 32 work-items compute together.
inline constexpr int kMatrixItems = 32;
inline constexpr double kMatrixOperations = 2 * 16 * 16 * 8;
std::string MatrixSource();

}  // namespace tg::calibrate

#endif  // TG_TOOLS_CALIBRATE_PROBE_SOURCES_H_
