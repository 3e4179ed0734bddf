// Names and colours of kernels: what a kernel's loops look like at a glance.
//
// `r_` for a kernel with a reduce, `E_` for one without, then the sizes of its axes: r_4_8. In
// colour each size says how its axis is spread: blue over the grid, cyan over a work-group, green
// over a group that reduces together, red in a reduce loop, magenta unrolled in a reduce, yellow
// upcast or vector, white in a plain loop.
#ifndef TG_CODEGEN_NAMES_H_
#define TG_CODEGEN_NAMES_H_

#include <span>
#include <string>

#include "ir/module.h"

namespace tg {

// By the axes: "r_4_8", a kernel without axes "E_". Not unique; whoever stores it makes it so.
std::string KernelName(std::span<const Axis> axes);
// The kernel's own name with its sizes in ANSI colours where the name is made of them (a suffix may
// follow); else the name as it is. Same width on the screen as kernel.name.
std::string ColoredName(const Kernel& kernel);

}  // namespace tg

#endif  // TG_CODEGEN_NAMES_H_
