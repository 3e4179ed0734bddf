// Measures a device: tg-calibrate --device=cpu > my.target; tg-run --target=my.target model.uop
#include "tools/calibrate/calibrate_main.h"

int main(int argc, char** argv) { return tg::calibrate::CalibrateMain(argc, argv); }
