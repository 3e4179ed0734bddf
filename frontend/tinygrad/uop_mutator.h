// Mutants of printed UOps that stay texts of UOps: another op, type, number or argument, sources
// that are moved, copied, dropped, wrapped; and random UOps over all ops that the importer knows.
#ifndef TG_FRONTEND_TINYGRAD_UOP_MUTATOR_H_
#define TG_FRONTEND_TINYGRAD_UOP_MUTATOR_H_

#include <random>
#include <string>

namespace tg::tinygrad {

// One to four changes of `text`.
std::string MutateUOps(std::string text, std::mt19937& random);

// A SINK over random nodes, most of which fit nothing.
std::string RandomUOps(std::mt19937& random);

}  // namespace tg::tinygrad

#endif  // TG_FRONTEND_TINYGRAD_UOP_MUTATOR_H_
