// Searches for the fastest schedules of a model's kernels: tg-tune model.onnx --budget=300
#include "tools/tune/tune_main.h"

int main(int argc, char** argv) { return tg::tune::TuneMain(argc, argv, {}); }
