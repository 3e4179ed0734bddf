// The evaluator that all tests share.
#ifndef TG_TOOLS_ACCURACY_TEST_EVALUATOR_H_
#define TG_TOOLS_ACCURACY_TEST_EVALUATOR_H_

#include "tools/accuracy/evaluate.h"

namespace tg::accuracy {

// Uses the device that TG_DEVICE names (default: the CPU); without a device the test fails. Lives
// as long as the process.
const Evaluator& TestEvaluator();

}  // namespace tg::accuracy

#endif  // TG_TOOLS_ACCURACY_TEST_EVALUATOR_H_
