// How a source in OpenCL C gives an instruction of PTX that its compiler refuses.
#ifndef TG_IR_MATRIX_HOPPER_COMMENT_H_
#define TG_IR_MATRIX_HOPPER_COMMENT_H_

namespace tg {

// What begins a comment of PTX whose rest are instructions that only compute capability 9.0a has.
// The renderer writes it (codegen/opencl/ptx.cc) and the runtime takes the instructions out of it
// (runtime/opencl/ptx_repair.cc).
inline constexpr char kHopperComment[] = "// sm_90a: ";

}  // namespace tg

#endif  // TG_IR_MATRIX_HOPPER_COMMENT_H_
