// Bounds are below what they bound, and grow with what they count.
#include "passes/cost/bounds.h"

#include <cstdint>
#include <optional>
#include <random>

#include "gtest/gtest.h"
#include "passes/cost/blocking_cost.h"
#include "passes/cost/tile_cost.h"

namespace tg::cost {
namespace {

passes::Target Preset(const char* name) { return *passes::FindTarget(name); }

TEST(Bounds, StoredValuesMoveTwiceAndAddALaunch) {
  const passes::Target target = Preset("cl-nvidia-sm90");
  EXPECT_DOUBLE_EQ(StoredSeconds(1e6, target),
                   2 * TransferSeconds(1e6, target) + LaunchSeconds(1, target));
  EXPECT_DOUBLE_EQ(TransferSeconds(BytesOfLaunch(target), target), LaunchSeconds(1, target));
  EXPECT_GT(ArithmeticSeconds(1e9, target), MatrixSeconds(1e9, 16, target));
  EXPECT_GT(MatrixSeconds(1e9, 16, target), MatrixSeconds(1e9, 8, target));
}

TEST(Bounds, DataThatFitIntoACacheDoNotGoToMemory) {
  const passes::Target target = Preset("cl-cpu");
  const auto fits = static_cast<double>(target.cache_bytes);
  EXPECT_GT(ThroughMemorySeconds(fits + 1, target), 1.2 * ThroughMemorySeconds(fits, target));
}

TEST(Bounds, RowsFillADevice) {
  const passes::Target gpu = Preset("cl-nvidia-sm90"), cpu = Preset("cl-cpu");
  EXPECT_EQ(RowItems(cpu, 4, 4096), 1);
  EXPECT_GT(RowItems(gpu, 4, 4096), 1);
  EXPECT_LT(RowUtilization(gpu, 4, 1), RowUtilization(gpu, 4, 4096));
  EXPECT_EQ(RowUtilization(gpu, 1e9, 4096), 1);
  EXPECT_EQ(IdleSeconds(3, 1), 0);
  EXPECT_EQ(IdleSeconds(3, 0.25), 9);
}

// Wide rows of a first operand, and terms of a second one that are rows in memory.
BlockedContraction Product(int64_t rows, int64_t columns, int64_t terms) {
  BlockedContraction of;
  of.vector = 16;
  of.rows = rows, of.adjacent = columns;
  BlockedSum sum;
  sum.terms = sum.outer_terms = terms;
  sum.lanes.tiled = 1, sum.lanes.outer_term = columns, sum.lanes.in_lanes = true;
  sum.rows.tiled = terms, sum.rows.outer_term = 1;
  of.sums.push_back(sum);
  return of;
}

TEST(BlockingCost, MultiplyAddsAreABoundOfTheWhole) {
  const passes::Target target = Preset("cl-cpu");
  std::mt19937 random(7);
  const auto draw = [&](int64_t most) {
    return std::uniform_int_distribution<int64_t>(1, most)(random);
  };
  int whole = 0;
  for (int i = 0; i < 2000; ++i) {
    const BlockingCost cost(Product(draw(900), draw(900), draw(900)), target);
    Blocking b;
    b.vectors = draw(4), b.rows = draw(8), b.row_groups = draw(4), b.lane_groups = draw(4);
    const double bound = cost.ComputeSeconds(b);
    const std::optional<Panels> panels = cost.CutIntoPanels(b, false);
    if (!panels) continue;
    b.row_copy = Blocking::RowCopy::kTile;
    const double seconds = cost.Seconds(b, *panels, cost.ReadsOfRows(b));
    EXPECT_GE(seconds, bound * (1 - 1e-9)) << i;
    ++whole;
  }
  EXPECT_GT(whole, 1000);
}

TEST(TileCost, PaddingAndIdleUnitsCost) {
  const passes::Target target = Preset("cl-nvidia-sm90");
  const ContractionSize exact = {.rows = 4096, .lanes = 4096, .terms = 4096};
  const ContractionSize odd = {.rows = 4097, .lanes = 4096, .terms = 4096};
  const GpuTile tile = {.rows = 8, .lanes = 8, .item_rows = 16, .item_lanes = 16, .depth = 16};
  EXPECT_GT(GpuTileSeconds(tile, odd, target), GpuTileSeconds(tile, exact, target));
  // One group uses one unit of many, and nothing else runs while it waits for its copies.
  const ContractionSize small = {.rows = 128, .lanes = 128, .terms = 4096};
  EXPECT_GT(GpuTileSeconds(tile, small, target) * 1024, GpuTileSeconds(tile, exact, target));
  GpuTile ahead = tile;
  ahead.copies = GpuTile::Copies::kAhead;
  EXPECT_LT(GpuTileSeconds(ahead, small, target), GpuTileSeconds(tile, small, target));
}

TEST(TileCost, MatrixTilesFilledAheadHideTheirLoads) {
  const passes::Target target = Preset("cl-nvidia-sm90");
  const MatrixInstruction instruction =
      *MatrixInstructionFor(Scalar::kF16, Scalar::kF16, Scalar::kF32, {});
  const ContractionSize size = {
      .rows = 4096, .lanes = 4096, .terms = 4096, .bytes = 4, .in_runs = true};
  MatrixTile tile = {
      .rows = 4, .lanes = 8, .row_units = 2, .lane_units = 2, .depth = 32, .buffers = 1};
  const double once = MatrixTileSeconds(tile, size, instruction, target);
  tile.buffers = 3;
  EXPECT_LT(MatrixTileSeconds(tile, size, instruction, target), once);
  EXPECT_EQ(tile.GroupRows(), 128);
  EXPECT_EQ(tile.GroupLanes(), 128);
  // Rows of a copy that is filled ahead have no padding.
  EXPECT_EQ(tile.LocalBytes(instruction), 3 * 2 * (128 + 128) * 32);
}

}  // namespace
}  // namespace tg::cost
