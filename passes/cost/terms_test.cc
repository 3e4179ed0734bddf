// The terms of the cost model on loops that are counted by hand.
#include <cstdint>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "passes/cost/bounds.h"
#include "passes/cost/compute_cost.h"
#include "passes/cost/memory_cost.h"

namespace tg::cost {
namespace {

// Two cores with vectors of four floats; a line is 64 bytes.
passes::Target Small() {
  passes::Target target;
  target.alu_width = target.mem_width = 16;
  target.compute_units = 2;
  target.fma_accumulators = 12;
  target.flops_per_second = 8e9;  // a vector's multiply-add in 1 ns
  target.load_weight = 1;
  target.store_weight = 2;
  target.near_cache_bytes = 1 << 10;
  target.core_cache_bytes = 16 << 10;
  target.shared_cache_bytes = 64 << 10;
  target.core_cache_bytes_per_second = 4e9;
  target.shared_cache_bytes_per_second = 2e9;
  target.unit_bytes_per_second = 1e9;
  target.bytes_per_second = 1.5e9;
  target.write_traffic = 2;
  return target;
}

// A level behind a cache of this size.
MemoryLevel CacheOf(double bytes) { return {.name = "memory", .cache_bytes = bytes}; }

MemoryAccess Access(LoopList loops, LoopList lanes, std::vector<int64_t> strides, double bytes) {
  MemoryAccess a;
  a.nest = {std::move(loops), std::move(lanes)};
  a.strides = std::move(strides);
  a.buffer_bytes = bytes;
  return a;
}

TEST(Compute, VectorsAreRoundedUp) {
  const passes::Target target = Small();
  EXPECT_EQ(VectorsOf(8, Scalar::kF32, target), 2);
  EXPECT_EQ(VectorsOf(5, Scalar::kF32, target), 2);
  EXPECT_EQ(VectorsOf(1, Scalar::kF32, target), 1);
  EXPECT_EQ(VectorsOf(8, Scalar::kF64, target), 4);
  passes::Target scalars = target;
  scalars.alu_width = 0;
  EXPECT_EQ(VectorsOf(8, Scalar::kF32, scalars), 8);
}

TEST(Compute, ScalarCodeTakesAnInstructionForEachElement) {
  const passes::Target target = Small();
  ScheduledWork work;
  work.loops = {{"i", 100, Steps::kSerial}, {"v", 4, Steps::kLanes}};
  work.arithmetic.push_back({{{0}, {1}}, 6, Scalar::kF32, 0});
  EXPECT_EQ(CountInstructions(work, target).arithmetic, 100 * 6);
  work.arithmetic[0].nest = {{0, 1}, {}};
  work.loops[1].steps = Steps::kSerial;
  EXPECT_EQ(CountInstructions(work, target).arithmetic, 400 * 6);
}

TEST(Compute, AdditionsWaitForEachOther) {
  const passes::Target target = Small();  // eight vectors hide an addition's latency
  ScheduledWork work;
  work.loops = {{"r", 100, Steps::kSerial}, {"u", 8, Steps::kLanes}};
  work.arithmetic.push_back({{{0}, {1}}, 1, Scalar::kF32, 8});  // two vectors of sums
  EXPECT_DOUBLE_EQ(CountInstructions(work, target).arithmetic, 100 * 2 * (8.0 / 2));
  work.arithmetic[0].sums = 64;
  EXPECT_DOUBLE_EQ(CountInstructions(work, target).arithmetic, 100 * 2);
}

TEST(Compute, RatesOfTypes) {
  passes::Target target = Small();
  ScheduledWork work;
  work.loops = {{"v", 4, Steps::kLanes}};
  work.arithmetic.push_back({{{}, {0}}, 1, Scalar::kF64, 0});
  target.f64_rate = 0.5;  // two vectors, at the rate of f32's
  EXPECT_DOUBLE_EQ(CountInstructions(work, target).arithmetic, 2);
  target.f64_rate = 0.125;
  EXPECT_DOUBLE_EQ(CountInstructions(work, target).arithmetic, 8);
  work.arithmetic[0].type = Scalar::kI32;
  target.int_rate = 0.5;
  EXPECT_DOUBLE_EQ(CountInstructions(work, target).arithmetic, 2);
}

TEST(Compute, AccessesByRunsOfAdjacentLanes) {
  const passes::Target target = Small();
  ScheduledWork work;
  work.loops = {{"u", 2, Steps::kLanes}, {"v", 8, Steps::kLanes}};
  const auto count = [&](std::vector<int64_t> strides) {
    return AccessInstructions(work, Access({}, {0, 1}, std::move(strides), 1e6), target);
  };
  EXPECT_EQ(count({8, 1}), 4);    // 16 adjacent floats, four at a time
  EXPECT_EQ(count({100, 1}), 4);  // two rows of eight
  EXPECT_EQ(count({0, 1}), 2);    // one row for both
  EXPECT_EQ(count({0, 0}), 1);    // one element for all
  EXPECT_EQ(count({1, 1}), 4);    // overlapping rows, as of a window
  EXPECT_EQ(count({0, 100}), 8);  // eight scalars
  work.loops[1].is_term = true;
  EXPECT_EQ(count({0, 100}), 16);  // eight elements, each moved into its lane
  MemoryAccess broadcast = Access({}, {0, 1}, {1, 0}, 1e6);
  broadcast.is_broadcast = true;
  EXPECT_EQ(AccessInstructions(work, broadcast, target), 2);
  MemoryAccess gated = Access({}, {0, 1}, {100, 1}, 1e6);
  gated.is_gated = true;
  EXPECT_EQ(AccessInstructions(work, gated, target), 8);
}

TEST(Compute, TheLongerKindOfALoopHidesMostOfTheShorter) {
  const passes::Target target = Small();
  ScheduledWork work;
  work.loops = {{"i", 8, Steps::kSerial}};
  work.arithmetic.push_back({{{0}, {}}, 10, Scalar::kF32, 0});
  work.accesses.push_back(Access({0}, {}, {1}, 1e6));
  EXPECT_DOUBLE_EQ(ComputeSeconds(work, target), 81e-9);
  work.arithmetic[0].weight = 1;
  work.accesses.resize(10, work.accesses[0]);
  EXPECT_DOUBLE_EQ(ComputeSeconds(work, target), 81e-9);
}

TEST(Compute, ACoreExecutesOneLoopAfterTheOther) {
  passes::Target target = Small();
  ScheduledWork work;
  work.loops = {{"i", 80, Steps::kSerial}, {"j", 8, Steps::kSerial}};
  work.arithmetic.push_back({{{0}, {}}, 1, Scalar::kF32, 0});
  work.accesses.push_back(Access({1}, {}, {0, 1}, 1e6));
  EXPECT_DOUBLE_EQ(ComputeSeconds(work, target), 88e-9);
  // A unit that interleaves work-items has some in each.
  target.items_per_unit = 64;
  EXPECT_DOUBLE_EQ(ComputeSeconds(work, target), 81e-9);
}

TEST(Compute, FillsAreAPartOfTheirOwn) {
  const passes::Target target = Small();
  ScheduledWork work;
  work.loops = {{"i", 80, Steps::kSerial}};
  work.accesses.push_back(Access({0}, {}, {1}, 1e6));
  work.accesses.push_back(work.accesses[0]);
  work.accesses[1].is_fill = true;
  work.accesses[1].distinct = 0.5;  // half of what windows read is copied once
  EXPECT_EQ(CountInstructions(work, target, Part::kRest).loads, 80);
  EXPECT_EQ(CountInstructions(work, target, Part::kFills).loads, 40);
  EXPECT_EQ(CountInstructions(work, target).loads, 120);
}

TEST(Compute, VectorsOfStridedLanes) {
  const passes::Target target = Small();
  ScheduledWork work;
  work.loops = {{"u", 4, Steps::kLanes}, {"v", 4, Steps::kLanes}};
  work.loops[1].is_vector = true;
  const auto count = [&](std::vector<int64_t> strides) {
    return AccessInstructions(work, Access({}, {0, 1}, std::move(strides), 1e6), target);
  };
  EXPECT_EQ(count({0, 100}), 8);   // lane by lane, moved into a vector
  EXPECT_EQ(count({1, 100}), 12);  // a square: four vectors, each loaded and shuffled twice
  work.loops[0].trips = 3;
  EXPECT_EQ(count({1, 100}), 24);  // no square
  EXPECT_EQ(count({1, 2}), 12);    // every other element of six vectors
  work.loops[0].trips = 2;
  MemoryAccess store = Access({}, {0, 1}, {1, 2}, 1e6);
  EXPECT_EQ(AccessInstructions(work, store, target), 8);
  store.is_store = true;
  EXPECT_EQ(AccessInstructions(work, store, target), 4);  // two vectors, interleaved
  store.strides = {1, 3};
  EXPECT_EQ(AccessInstructions(work, store, target), 16);  // with gaps between
  MemoryAccess fill = Access({}, {0, 1}, {0, 100}, 1e6);
  fill.is_transposed = true;
  EXPECT_EQ(AccessInstructions(work, fill, target), 3);
}

// The lanes of the other loop are adjacent, but the vectors are not along it.
TEST(Compute, VectorsOfStridedTerms) {
  const passes::Target target = Small();
  ScheduledWork work;
  work.loops = {{"u", 3, Steps::kLanes}, {"r", 4, Steps::kLanes}};
  work.loops[1].is_term = true;
  MemoryAccess access = Access({}, {0, 1}, {1, 100}, 1e6);
  EXPECT_EQ(AccessInstructions(work, access, target), 4);
  access.term_vector = 1;
  EXPECT_EQ(AccessInstructions(work, access, target), 24);
  work.loops[0].trips = 4;
  EXPECT_EQ(AccessInstructions(work, access, target), 12);  // a square
  access.strides = {100, 1};
  EXPECT_EQ(AccessInstructions(work, access, target), 4);
}

TEST(Compute, VectorsAreCutWhereAPredicateChanges) {
  const passes::Target target = Small();
  ScheduledWork work;
  work.loops = {{"v", 4, Steps::kLanes}};
  MemoryAccess access = Access({}, {0}, {1}, 1e6);
  access.is_gated = true;
  EXPECT_EQ(AccessInstructions(work, access, target), 2);
  access.parts = 2;  // two loads, each with a gate, and a shuffle
  EXPECT_EQ(AccessInstructions(work, access, target), 5);
}

TEST(Utilization, RoundsOfGroups) {
  passes::Target target = Small();
  EXPECT_EQ(Utilization(1, 1, target), 0.5);
  EXPECT_EQ(Utilization(2, 1, target), 1);
  EXPECT_EQ(Utilization(3, 1, target), 0.75);
  EXPECT_EQ(Utilization(100, 1, target), 1);
  target.subgroup_size = 32;
  EXPECT_EQ(Utilization(2, 8, target), 0.25);   // a quarter of a subgroup
  EXPECT_EQ(Utilization(2, 48, target), 0.75);  // one and a half
  EXPECT_EQ(Utilization(2, 64, target), 1);
}

TEST(Utilization, SubgroupsAreDividedAmongSchedulers) {
  passes::Target target = Small();
  target.subgroup_size = 32;
  target.unit_schedulers = 4;
  EXPECT_EQ(Utilization(2, 128, target), 1);
  EXPECT_EQ(Utilization(2, 32, target), 0.25);  // one of four has a subgroup
  EXPECT_EQ(Utilization(6, 64, target), 0.75);  // six a unit: two have two, two have one
  EXPECT_EQ(Utilization(8, 64, target), 1);
}

TEST(Memory, FootprintsAreWholeLines) {
  const passes::Target target = Small();
  ScheduledWork work;
  work.loops = {{"i", 10, Steps::kSerial}, {"j", 100, Steps::kSerial}};
  const auto bytes = [&](std::vector<int64_t> strides, size_t from) {
    return FootprintBytes(work, Access({0, 1}, {}, std::move(strides), 1e6), from, target);
  };
  EXPECT_EQ(bytes({100, 1}, 1), 400);       // a row
  EXPECT_EQ(bytes({100, 1}, 0), 4000);      // rows follow on each other
  EXPECT_EQ(bytes({1, 100}, 1), 100 * 64);  // a column: a line for each element
  EXPECT_EQ(bytes({1, 100}, 0), 100 * 64);  // ten columns are in the same lines
  EXPECT_EQ(bytes({0, 1}, 0), 400);
  EXPECT_EQ(bytes({1, 1}, 0), (100 + 9) * 4);  // overlapping windows
  EXPECT_EQ(FootprintBytes(work, Access({0, 1}, {}, {100, 1}, 800), 0, target), 800);
}

// sum over j of m[i, j] * v[j]: the vector is read for each row.
ScheduledWork MatrixVector(double rows, double columns) {
  ScheduledWork work;
  work.loops = {{"i", rows, Steps::kSerial}, {"j", columns, Steps::kSerial}};
  work.accesses.push_back(
      Access({0, 1}, {}, {static_cast<int64_t>(columns), 1}, 4 * rows * columns));
  work.accesses.push_back(Access({0, 1}, {}, {0, 1}, 4 * columns));
  work.accesses[1].buffer = 1;
  return work;
}

TEST(Memory, DataThatStayAreFetchedOnce) {
  const passes::Target target = Small();
  const ScheduledWork work = MatrixVector(100, 64);
  // A step over the rows reads 256 bytes of each.
  EXPECT_DOUBLE_EQ(BytesMoved(work, CacheOf(512), target), 100 * 256 + 256);
  EXPECT_DOUBLE_EQ(BytesMoved(work, CacheOf(340), target), 2 * 100 * 256);
  // Between the two the share that stays falls linearly.
  EXPECT_DOUBLE_EQ(BytesMoved(work, CacheOf(512 / 1.25), target),
                   100 * 256 + 0.5 * 256 + 0.5 * 25600);
}

TEST(Memory, AKernelWhoseDataStayFetchesNothing) {
  const passes::Target target = Small();
  EXPECT_EQ(BytesMoved(MatrixVector(100, 64), CacheOf(100 * 256 + 256), target), 0);
}

TEST(Memory, TheSameDataAreFetchedByTheFirstAccess) {
  const passes::Target target = Small();
  ScheduledWork work;
  work.loops = {{"i", 1000, Steps::kSerial}, {"r", 64, Steps::kSerial}, {"j", 64, Steps::kSerial}};
  work.accesses.push_back(Access({0, 1}, {}, {64, 1, 0}, 256000));
  work.accesses.push_back(Access({0, 2}, {}, {64, 0, 1}, 256000));
  EXPECT_DOUBLE_EQ(BytesMoved(work, CacheOf(512), target), 256000);
  EXPECT_DOUBLE_EQ(BytesMoved(work, CacheOf(100), target), 2 * 256000);
}

TEST(Memory, WrittenLinesAreFetchedAndWrittenBack) {
  const passes::Target target = Small();
  ScheduledWork work;
  work.loops = {{"i", 16000, Steps::kSerial}};
  work.accesses.push_back(Access({0}, {}, {1}, 64000));
  work.accesses[0].is_store = true;
  EXPECT_DOUBLE_EQ(BytesMoved(work, CacheOf(512), target), 2 * 64000);
  MemoryAccess load = work.accesses[0];
  load.is_store = false;
  work.accesses.insert(work.accesses.begin(), load);  // y[i] += 1
  EXPECT_DOUBLE_EQ(BytesMoved(work, CacheOf(512), target), 2 * 64000);
}

TEST(Memory, LocalMemoryIsBehindNoCache) {
  ScheduledWork work = MatrixVector(100, 64);
  work.accesses[1].is_local = true;
  EXPECT_DOUBLE_EQ(BytesMoved(work, CacheOf(300), Small()), 100 * 256);
}

TEST(Memory, LoadsWaitForLinesThatNoPrefetcherForesees) {
  passes::Target target = Small();
  target.page_bytes = 4096;
  target.miss_bytes = 512;
  target.prefetch_streams = 32;
  ScheduledWork work;
  work.loops = {{"i", 64, Steps::kSerial}, {"k", 16, Steps::kSerial}, {"v", 32, Steps::kLanes}};
  const MemoryAccess rows = Access({0, 1}, {2}, {32, 2048, 1}, 1e9);
  // Each step of i continues 16 runs of 128 bytes, in as many pages.
  EXPECT_DOUBLE_EQ(UnforeseenFactor(work, rows, target), 1);
  // No prefetcher follows 64 of them: each run of 128 bytes begins anew.
  work.loops[1].trips = 64;
  EXPECT_DOUBLE_EQ(UnforeseenFactor(work, rows, target), (1 + 512.0 / 128) / (1 + 512.0 / 4096));
  EXPECT_EQ(UnforeseenFactor(work, Access({0, 1}, {2}, {32, 64, 1}, 1e9), target), 1);
  MemoryAccess store = rows;
  store.is_store = true;
  EXPECT_EQ(UnforeseenFactor(work, store, target), 1);
  target.items_per_unit = 64;
  EXPECT_EQ(UnforeseenFactor(work, rows, target), 1);
}

TEST(Memory, LevelsHaveRates) {
  const passes::Target target = Small();
  ScheduledWork work;
  work.loops = {{"g", 2, Steps::kGroups}, {"i", 64000, Steps::kSerial}};
  work.accesses.push_back(Access({0, 1}, {}, {64000, 1}, 512000));
  const auto seconds = MemorySeconds(work, target);
  ASSERT_EQ(seconds.size(), 3u);
  EXPECT_DOUBLE_EQ(seconds[0], 256000 / 4e9);  // a unit's half
  EXPECT_DOUBLE_EQ(seconds[1], 256000 / 2e9);
  EXPECT_DOUBLE_EQ(seconds[2], 512000 / 1.5e9);  // both together are slower than twice one
  work.loops[0].trips = 1;
  work.accesses[0].buffer_bytes = 256000;
  EXPECT_DOUBLE_EQ(MemorySeconds(work, target)[2], 256000 / 1e9);
}

TEST(Memory, GroupsAreDividedAmongUnits) {
  ScheduledWork work;
  work.loops = {{"g", 3, Steps::kGroups}, {"h", 8, Steps::kGroups}, {"i", 5, Steps::kSerial}};
  work.accesses.push_back(Access({0, 1, 2}, {}, {400, 50, 10}, 4800));
  const ScheduledWork share = ShareOfUnit(work, 6, /*in_turns=*/false);
  EXPECT_EQ(share.loops[0].trips, 1);
  EXPECT_EQ(share.loops[1].trips, 4);
  EXPECT_EQ(share.loops[2].trips, 5);
  EXPECT_EQ(share.accesses[0].strides, (std::vector<int64_t>{400, 50, 10}));
  EXPECT_EQ(ShareOfUnit(work, 6, /*in_turns=*/true).accesses[0].strides,
            (std::vector<int64_t>{1200, 100, 10}));
}

}  // namespace
}  // namespace tg::cost
