// The LLVM renderer: turns a kernel at stage linear into a module in LLVM's assembly language, from
// which runtime/cpu makes machine code.
//
// The text needs no LLVM to be written, and does not depend on its version: it uses opaque
// pointers, and only instructions and intrinsics that LLVM 14 and all later versions know. The
// linear list is vectorized and unrolled already, so the text is close to the machine: a value of
// the list is an instruction or a few, register scratch is stack memory that SROA promotes.
//
// A module has two functions. The body computes one work-group; its buffers are parameters that are
// `noalias` unless some call passes one buffer for two of them and writes it. The other one, which
// has the kernel's name, is what a runtime calls (KernelFunction). It loads the arguments.
//
// The work-items of a group are loops around the stretches of code between barriers (regions.h).
//
// Integers wrap. An addition is `nsw` only where its bounds rule an overflow out. Floats are
// contracted unless the module says no-contract. Narrow floats are moved as bits; half is converted
// where memory of halves is accessed as floats. Mathematical functions are expanded before
// (Target::own_functions): the text calls no library.
#ifndef TG_CODEGEN_LLVM_RENDERER_H_
#define TG_CODEGEN_LLVM_RENDERER_H_

#include "codegen/llvm/kernel_function.h"
#include "codegen/renderer.h"
#include "passes/target.h"

namespace tg::llvm_ir {

// RenderedKernel::source is a module of the kernel's two functions, RenderedKernel::body the two
// functions without declarations, and RenderedKernel::name the name of the KernelFunction.
const codegen::Renderer& LlvmRenderer();

// The target with what this renderer demands of it: functions that it expands, types that it
// computes in.
passes::Target Adapted(passes::Target target);

}  // namespace tg::llvm_ir

#endif  // TG_CODEGEN_LLVM_RENDERER_H_
