// Libraries that are loaded in front of the OpenCL loader to observe its calls, such as Intel's
// intercept layer. Processes inherit them by LD_PRELOAD. A layer in a child process, which may be a
// linker that PoCL starts, overwrites the files that the layer writes about this process.
#ifndef TG_RUNTIME_OPENCL_OPENCL_LAYERS_H_
#define TG_RUNTIME_OPENCL_OPENCL_LAYERS_H_

#include <string>
#include <string_view>

namespace tg::runtime {

// Returns a value of LD_PRELOAD without the libraries that replace the OpenCL loader.
std::string WithoutOpenClLayers(std::string_view preload);

// Removes them from this process's LD_PRELOAD, which its children inherit. Call it before other
// threads start.
void KeepOpenClLayersFromChildren();

}  // namespace tg::runtime

#endif  // TG_RUNTIME_OPENCL_OPENCL_LAYERS_H_
