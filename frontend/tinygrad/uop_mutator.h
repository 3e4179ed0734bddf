// Mutates printed UOps such that the result still parses: changes an op, type, number or argument,
// or moves, copies, drops or wraps sources. Also makes random UOps over all ops that the importer
// knows.
#ifndef TG_FRONTEND_TINYGRAD_UOP_MUTATOR_H_
#define TG_FRONTEND_TINYGRAD_UOP_MUTATOR_H_

#include <random>
#include <string>

namespace tg::tinygrad {

// Applies one to four mutations to `text`.
std::string MutateUOps(std::string text, std::mt19937& random);

// A SINK over random nodes, most of which are ill-typed.
std::string RandomUOps(std::mt19937& random);

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_UOP_MUTATOR_H_
