// ScheduledWork: what a scheduled kernel executes, as the loops, accesses and operations that the
// terms of the cost model count. It holds no nodes of the IR, so that tests write it by hand.
#ifndef TG_PASSES_COST_SCHEDULED_WORK_H_
#define TG_PASSES_COST_SCHEDULED_WORK_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ir/dtype.h"
#include "llvm/ADT/SmallVector.h"

namespace tg::cost {

// How the steps of a loop are executed.
enum class Steps : uint8_t {
  kGroups,  // in different work-groups
  kItems,   // by the work-items of a group
  kSerial,  // one after the other
  kLanes    // as lanes of vectors, or copies of the body
};

struct WorkLoop {
  std::string name;
  double trips = 1;
  Steps steps = Steps::kSerial;
  bool shares = false;   // its steps are executed by the work-items of another loop
  bool is_term = false;  // of the terms of a reduce
  // Its steps are the elements of vectors. Other lanes are copies of the body, which become vectors
  // only where they are adjacent in memory.
  bool is_vector = false;
  // Of terms: its work-items combine their parts by shuffles, without barriers.
  bool is_shuffled = false;
};

// The operations of a work-item that divide an element into the two parts that a matrix instruction
// takes (MatrixInstruction::in_parts): a limit, a rounding of two operations, and a difference.
inline constexpr double kPartInstructions = 4;

// Positions of loops in ScheduledWork::loops, the outermost first.
using LoopList = llvm::SmallVector<uint16_t, 8>;

// The loops in each step of which something is executed, and the lanes that differ in it.
struct LoopNestOf {
  LoopList loops;  // of groups, work-items and serial ones
  LoopList lanes;
};

// A load or a store of one element, in the steps of its loops.
struct MemoryAccess {
  // The stride of an address that is no sum of multiples of the loops' counters.
  static constexpr int64_t kUnrelated = int64_t{1} << 40;

  LoopNestOf nest;
  std::vector<int64_t> strides;  // by loop of ScheduledWork, in elements, not negative
  int64_t buffer = 0;            // equal for accesses to the same memory
  double element_bytes = 4;
  double buffer_bytes = 0;  // of all elements that it may access
  bool is_store = false;
  bool is_gated = false;
  // Those in which a vector is accessed whose lanes differ in the predicate, of a power of two of
  // lanes each.
  double parts = 1;
  // The loop of lanes along which vectors of terms are made, where the reduce has no vectors of
  // results; -1: none.
  int term_vector = -1;
  // A load that fills a copy, of lanes that are strided while terms are adjacent: square blocks are
  // loaded as vectors and transposed. A store to a copy in local memory of elements that are not
  // adjacent there, although what is loaded together is adjacent.
  bool is_transposed = false;
  bool is_fill = false;  // a load or a store that fills a copy
  // The part of its steps that are executed: what windows of a copy have in common is copied once,
  // by loops over the box that they make, in place of those of the nest from `box` on.
  double distinct = 1;
  size_t box = SIZE_MAX;
  bool is_broadcast = false;  // each element is repeated in all lanes of a vector
  bool is_local = false;      // in local memory, which no cache is in front of
  bool is_ahead = false;      // of a copy that is filled while the one before it is used
  bool in_turns = false;      // of a copy in several buffers, which consecutive fills use by turns
  // Of a load or a store that fills a copy in local memory, which the work-items of a group do
  // together, each some of its elements: in each step of how many of its loops, the first ones. The
  // loops behind them are the copy's. 0: it fills no such copy.
  size_t around_copy = 0;
  double quotients = 0;  // quotients and remainders in its address
  // The work-items of a matrix instruction that share the elements of these lanes among them, and
  // what each of them holds of the fragments, in registers of 32 bits.
  double spread = 1;
  double fragment_registers = 0;
  bool by_instruction = false;  // a matrix instruction reads local memory, without loads
};

// Operations on one element, in the steps of their loops.
struct Arithmetic {
  LoopNestOf nest;
  double weight = 1;           // additions' worth
  Scalar type = Scalar::kF32;  // in which it is computed
  // For the additions of a reduce: the number of sums that one thread keeps, in elements. A sum
  // waits for the addition before it. 0: no addition waits.
  double sums = 0;
  bool is_fill = false;    // of the elements of a copy
  bool is_matrix = false;  // by matrix instructions
};

// The part of a work: where copies are filled, what is executed between that, or both.
enum class Part : uint8_t { kAll, kFills, kRest };
inline bool IsIn(Part part, bool is_fill) {
  return part == Part::kAll || is_fill == (part == Part::kFills);
}

struct ScheduledWork {
  std::vector<WorkLoop> loops;
  std::vector<MemoryAccess> accesses;
  std::vector<Arithmetic> arithmetic;

  // The product of the trips of the loops of one kind, without loops that share the work-items of
  // others.
  double Trips(Steps steps) const;
  // How often a group fills the copy in local memory that the access fills.
  double Fills(const MemoryAccess& access) const;
  // How often the loops take a step, without lanes.
  double Executions(const LoopNestOf& nest) const;
  double Lanes(const LoopNestOf& nest) const;
};

inline double ScheduledWork::Trips(Steps steps) const {
  double product = 1;
  for (const WorkLoop& loop : loops) {
    product *= loop.steps == steps && !loop.shares ? loop.trips : 1;
  }
  return product;
}

inline double ScheduledWork::Fills(const MemoryAccess& access) const {
  double product = 1;
  for (size_t i = 0; i < access.around_copy; ++i) {
    const WorkLoop& loop = loops[access.nest.loops[i]];
    product *= loop.steps == Steps::kSerial ? loop.trips : 1;
  }
  return product;
}

inline double ScheduledWork::Executions(const LoopNestOf& nest) const {
  double product = 1;
  for (const uint16_t loop : nest.loops) product *= loops[loop].trips;
  return product;
}

inline double ScheduledWork::Lanes(const LoopNestOf& nest) const {
  double product = 1;
  for (const uint16_t loop : nest.lanes) product *= loops[loop].trips;
  return product;
}

}  // namespace tg::cost

#endif  // TG_PASSES_COST_SCHEDULED_WORK_H_
