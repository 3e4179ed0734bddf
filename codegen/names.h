// Names and colours of kernels, which show the shape of a kernel's loops at a glance.
//
// A name is `r_` for a kernel with a reduce and `E_` for one without, followed by the sizes of its
// axes: r_4_8. The colour of a size shows how its axis is mapped: blue to the grid, cyan to the
// work-items of a group, green to a group that reduces together, red to a reduce loop, magenta to
// an unrolled reduce, yellow to an upcast or vector, white to a plain loop.
#ifndef TG_CODEGEN_NAMES_H_
#define TG_CODEGEN_NAMES_H_

#include <span>
#include <string>

#include "ir/module.h"

namespace tg {

// Makes a name from the axes: "r_4_8"; a kernel without axes is "E_". The name is not unique; the
// caller that stores it makes it unique.
std::string KernelName(std::span<const Axis> axes);
// Returns the kernel's name with its sizes in ANSI colours if the name is made from the sizes (a
// suffix may follow), else the plain name. The printed width equals that of kernel.name.
std::string ColoredName(const Kernel& kernel);

}  // namespace tg

#endif  // TG_CODEGEN_NAMES_H_
