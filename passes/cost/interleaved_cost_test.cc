// What a unit with subgroups of 32 moves and waits for, on loops that are counted by hand.
#include "passes/cost/interleaved_cost.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "passes/cost/compute_cost.h"
#include "passes/cost/predict_cost.h"

namespace tg::cost {
namespace {

passes::Target Interleaved() {
  passes::Target target;
  target.subgroup_size = 32;
  target.compute_units = 4;
  target.mem_width = 16;
  target.sector_bytes = 32;
  target.local_bytes_per_second = 128e9;  // a word for each of a subgroup's work-items in 1 ns
  target.max_unit_items = 1024;
  target.unit_registers = 32768;
  target.unit_local_memory = 32768;
  target.step_seconds = 1e-6;
  target.overlapped_instructions = 8;
  target.barrier_seconds = 5e-7;
  target.lane_instructions = 1;
  return target;
}

// 4 groups of 32 work-items, with a loop of `steps`.
ScheduledWork Work(double steps) {
  ScheduledWork work;
  work.loops = {{"g", 4, Steps::kGroups}, {"l", 32, Steps::kItems}, {"r", steps, Steps::kSerial}};
  return work;
}

MemoryAccess Load(LoopList loops, std::vector<int64_t> strides, LoopList lanes = {}) {
  MemoryAccess a;
  a.nest = {std::move(loops), std::move(lanes)};
  a.strides = std::move(strides);
  a.buffer_bytes = 1e9;
  return a;
}

TEST(Accesses, NeighboursShareSectors) {
  const passes::Target target = Interleaved();
  const auto seconds = [&](int64_t stride) {
    ScheduledWork work = Work(10);
    work.accesses = {Load({0, 2, 1}, {0, stride, 0})};
    return AccessSeconds(work, target);
  };
  EXPECT_DOUBLE_EQ(seconds(1), 10e-9);
  EXPECT_DOUBLE_EQ(seconds(0), 10e-9);        // one word, but an instruction
  EXPECT_DOUBLE_EQ(seconds(4), 10e-9 * 2);    // four lines, in each half of the time
  EXPECT_DOUBLE_EQ(seconds(64), 10e-9 * 16);  // a line for each work-item
}

TEST(Accesses, VectorsAreOneInstruction) {
  const passes::Target target = Interleaved();
  ScheduledWork work = Work(10);
  work.loops.push_back({"v", 4, Steps::kLanes});
  work.accesses = {Load({0, 2, 1}, {0, 4, 0, 1}, {3})};
  EXPECT_DOUBLE_EQ(AccessSeconds(work, target), 40e-9 / 2);  // four lines
  work.accesses[0].is_local = true;
  EXPECT_DOUBLE_EQ(AccessSeconds(work, target), 40e-9);
}

TEST(Accesses, FragmentsAreSpreadOverWorkItems) {
  const passes::Target target = Interleaved();
  ScheduledWork work = Work(10);
  work.loops.push_back({"v", 32, Steps::kLanes});
  work.accesses = {Load({0, 2, 1}, {0, 32, 0, 1}, {3})};
  work.accesses[0].is_local = true;
  work.accesses[0].spread = 8;  // four words for each work-item
  EXPECT_DOUBLE_EQ(AccessSeconds(work, target), 40e-9);
}

TEST(Waits, ShortStepsWaitTogether) {
  const passes::Target target = Interleaved();
  ScheduledWork work = Work(32);
  work.accesses = {Load({0, 2, 1}, {0, 1, 32})};
  work.arithmetic.push_back({{{0, 2, 1}, {}}, 1, Scalar::kF32, 1});
  EXPECT_DOUBLE_EQ(LatencySeconds(work, target), 8e-6);  // four steps of two instructions
  work.arithmetic[0].weight = 20;
  EXPECT_DOUBLE_EQ(LatencySeconds(work, target), 32e-6);
}

TEST(Waits, CopiesThatAreFilledAheadDoNotWait) {
  const passes::Target target = Interleaved();
  ScheduledWork work = Work(32);
  work.accesses = {Load({0, 2, 1}, {0, 1, 32})};
  work.accesses[0].around_copy = 2;
  const double barriers = 32 * target.barrier_seconds;
  EXPECT_DOUBLE_EQ(LatencySeconds(work, target), 48e-6 + barriers);  // its one buffer is in use
  work.accesses[0].in_turns = true;
  EXPECT_DOUBLE_EQ(LatencySeconds(work, target), 32e-6 + barriers);
  work.accesses[0].is_ahead = true;
  EXPECT_DOUBLE_EQ(LatencySeconds(work, target), barriers);
}

TEST(Waits, NothingWaitsForMatrixInstructions) {
  passes::Target target = Interleaved();
  target.instruction_seconds = 1e-9;
  ScheduledWork work = Work(32);
  work.arithmetic.push_back({{{0, 2, 1}, {}}, 20, Scalar::kF32, 1});
  const double scalars = LatencySeconds(work, target);
  work.arithmetic[0].is_matrix = true;
  EXPECT_GT(scalars, 0);
  EXPECT_EQ(LatencySeconds(work, target), 0);
}

TEST(Waits, AGroupThatIsAloneStopsAtItsBarriers) {
  const passes::Target target = Interleaved();
  ScheduledWork work = Work(32);
  work.accesses = {Load({0, 2, 1}, {0, 1, 32})};
  EXPECT_EQ(NotOverlapped(work, target), target.not_overlapped);
  work.accesses[0].around_copy = 2;
  const double alone = NotOverlapped(work, target);
  EXPECT_GT(alone, target.not_overlapped);
  work.loops[0].trips = 2.0 * target.compute_units;
  EXPECT_LT(NotOverlapped(work, target), alone);
}

TEST(Waits, SharedSumsAreCombinedInPairs) {
  const passes::Target target = Interleaved();
  ScheduledWork work = Work(1);
  work.loops[1].is_term = true;
  EXPECT_DOUBLE_EQ(LatencySeconds(work, target), 25e-7);  // 32, 16, ..., 2 partial results
  work.loops[1].is_shuffled = true;
  EXPECT_DOUBLE_EQ(LatencySeconds(work, target), 10 * target.instruction_seconds);
}

TEST(Waits, InstructionsFollowOnEachOther) {
  passes::Target target = Interleaved();
  target.step_seconds = 0;
  target.instruction_seconds = 1e-9;
  ScheduledWork work = Work(10);
  work.accesses = {Load({0, 2, 1}, {0, 1, 32})};
  work.arithmetic.push_back({{{0, 2, 1}, {}}, 2, Scalar::kF32, 1});
  EXPECT_DOUBLE_EQ(LatencySeconds(work, target), 30e-9);
}

// Two copies of 32 x 8 elements that a group of 32 work-items fills together.
TEST(Accesses, AGroupFillsACopyTogether) {
  passes::Target target = Interleaved();
  ScheduledWork work = Work(2);
  work.loops.push_back({"t", 8, Steps::kSerial});
  // A vector of four elements takes as long as four words.
  MemoryAccess fill = Load({0, 2, 1, 3}, {0, 8, 256, 1});
  fill.around_copy = 2;
  EXPECT_DOUBLE_EQ(FillOf(work, fill, target).instructions, 64);
  EXPECT_DOUBLE_EQ(AccessSeconds(work, target), 0);
  work.accesses = {fill};
  EXPECT_DOUBLE_EQ(AccessSeconds(work, target), 2 * 4e-9);  // half of each sector's time
  // Rows whose distance is odd begin at no multiple of a vector's size.
  fill.strides[1] = 9;
  EXPECT_DOUBLE_EQ(FillOf(work, fill, target).instructions, 256);
  // What is read along terms and stored along rows is stored element by element.
  fill.strides = {0, 1, 256, 32};
  fill.is_store = fill.is_local = true;
  EXPECT_DOUBLE_EQ(FillOf(work, fill, target).instructions, 64);
  fill.is_transposed = true;
  EXPECT_DOUBLE_EQ(FillOf(work, fill, target).instructions, 256);
}

TEST(Accesses, VectorsLieAtMultiplesOfTheirSize) {
  const passes::Target target = Interleaved();
  ScheduledWork work = Work(10);
  work.loops.push_back({"v", 3, Steps::kLanes});
  EXPECT_EQ(AccessInstructions(work, Load({0, 2, 1}, {0, 3, 0, 1}, {3}), target), 3);
  EXPECT_EQ(AccessInstructions(work, Load({0, 2, 1}, {0, 4, 0, 1}, {3}), target), 2);
  work.loops[3].trips = 4;
  EXPECT_EQ(AccessInstructions(work, Load({0, 2, 1}, {0, 2, 0, 1}, {3}), target), 2);
  EXPECT_EQ(AccessInstructions(work, Load({0, 2, 1}, {0, 4, 0, 1}, {3}), target), 1);
}

TEST(Residence, GroupsDivideRegistersAndLocalMemory) {
  const passes::Target target = Interleaved();
  ScheduledWork work = Work(1);
  EXPECT_EQ(ResidentGroups(work, target), 29);  // 32 work-items of 34.5 registers
  work.loops.push_back({"u", 16, Steps::kLanes});
  work.arithmetic.push_back({{{0, 1}, {3}}, 1, Scalar::kF32, 16});
  EXPECT_EQ(ResidentGroups(work, target), 14);  // of 72
  MemoryAccess copy = Load({0, 1}, {0, 1, 0, 0});
  copy.is_local = true;
  copy.buffer_bytes = 10000;
  work.accesses = {copy};
  EXPECT_EQ(ResidentGroups(work, target), 3);
}

TEST(Residence, OperandsOfMatrixInstructionsAreFragments) {
  const passes::Target target = Interleaved();
  ScheduledWork work = Work(1);
  work.loops.push_back({"u", 16, Steps::kLanes});
  work.arithmetic.push_back({{{0, 1}, {3}}, 1, Scalar::kF32, 16});
  work.accesses = {Load({0, 1}, {0, 1, 0, 1}, {3})};
  work.accesses[0].fragment_registers = 8;
  EXPECT_EQ(ResidentGroups(work, target), 18);  // 32 work-items of 56 registers
}

TEST(Waits, RoundsOfGroupsFollowOnEachOther) {
  const passes::Target target = Interleaved();
  ScheduledWork work = Work(10);
  work.loops[0].trips = 4 * 58;
  work.accesses = {Load({0, 2, 1}, {0, 1, 32})};
  work.arithmetic.push_back({{{0, 2, 1}, {}}, 20, Scalar::kF32, 1});
  EXPECT_DOUBLE_EQ(LatencySeconds(work, target), 20e-6);
}

TEST(Total, LaunchesAreHiddenWhereKernelsAreQueued) {
  passes::Target target = Interleaved();
  target.launch_seconds = 8e-6;
  EXPECT_GT(PredictCost(Work(1), target).launch, 7.9e-6);
  target.kernel_seconds = 3e-6;
  target.group_seconds = 0;
  target.barrier_seconds = 0;
  EXPECT_DOUBLE_EQ(PredictCost(Work(1), target).Total(), 8e-6);
}

}  // namespace
}  // namespace tg::cost
