// Checks and times operations on a device: tg-bench --filter=matmul --json=rows.json
#include "tools/bench/bench_main.h"

int main(int argc, char** argv) { return tg::bench::BenchMain(argc, argv); }
