// tg-train as a function.
#ifndef TG_TOOLS_TRAIN_TRAIN_MAIN_H_
#define TG_TOOLS_TRAIN_TRAIN_MAIN_H_

namespace tg::train {

// Trains a model by the command line's options; returns the exit code.
int TrainMain(int argc, const char* const* argv);

}  // namespace tg::train

#endif  // TG_TOOLS_TRAIN_TRAIN_MAIN_H_
