// Trains a model: tg-train model.uop --loss=cross_entropy:logits,labels --data=train.npz -o new.uop
#include "tools/train/train_main.h"

int main(int argc, char** argv) { return tg::train::TrainMain(argc, argv); }
