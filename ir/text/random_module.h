// Modules made of random nodes, for tests of the text: every op, any attribute that its row in the
// op table allows, names good and bad. They print and read back; most mean nothing.
#ifndef TG_IR_TEXT_RANDOM_MODULE_H_
#define TG_IR_TEXT_RANDOM_MODULE_H_

#include <cstdint>
#include <memory>

#include "ir/module.h"

namespace tg {

std::unique_ptr<Module> RandomModule(uint32_t seed);

}  // namespace tg

#endif  // TG_IR_TEXT_RANDOM_MODULE_H_
