// How many threads compile and run kernels.
#ifndef TG_CAPI_THREADS_H_
#define TG_CAPI_THREADS_H_

#include "absl/status/status.h"

namespace tg::capi {

// The number that was set; 0: one for each usable processor.
int Threads();
// FailedPrecondition once the processors have been asked for.
absl::Status SetThreads(int threads);

}  // namespace tg::capi

#endif  // TG_CAPI_THREADS_H_
