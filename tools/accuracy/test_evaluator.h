// The evaluator that tests share.
#ifndef TG_TOOLS_ACCURACY_TEST_EVALUATOR_H_
#define TG_TOOLS_ACCURACY_TEST_EVALUATOR_H_

#include "tools/accuracy/evaluate.h"

namespace tg::accuracy {

// On the device that TG_DEVICE names (the CPU); a test without it ends. Lives as long as the
// process.
const Evaluator& TestEvaluator();

}  // namespace tg::accuracy

#endif  // TG_TOOLS_ACCURACY_TEST_EVALUATOR_H_
