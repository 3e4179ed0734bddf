// Colours in the names of kernels, which show the shape of a kernel's loops at a glance.
//
// A name that passes give is made of the sizes of the kernel's axes: r_4_8 (KernelName in
// passes/analysis/kernel_axes.h). The colour of a size shows how its axis is mapped: blue to the
// grid, cyan to the work-items of a group, green to a group that reduces together, red to a reduce
// loop, magenta to an unrolled reduce, yellow to an upcast or vector, white to a plain loop or one
// that fills a staged value.
#ifndef TG_CODEGEN_KERNEL_NAMES_H_
#define TG_CODEGEN_KERNEL_NAMES_H_

#include <string>

#include "ir/module.h"

namespace tg::codegen {

// Returns the kernel's name with its sizes in ANSI colours if the name is made from the sizes (a
// suffix may follow), else the plain name. The printed width equals that of kernel.name.
std::string ColoredName(const Kernel& kernel);

}  // namespace tg::codegen

#endif  // TG_CODEGEN_KERNEL_NAMES_H_
