// The command line of tg-calibrate.
#ifndef TG_TOOLS_CALIBRATE_CALIBRATE_MAIN_H_
#define TG_TOOLS_CALIBRATE_CALIBRATE_MAIN_H_

namespace tg::calibrate {

// Returns the exit code: 0, 1 if the device could not be measured or nothing could be written, 2
// for a wrong command line.
int CalibrateMain(int argc, const char* const* argv);

}  // namespace tg::calibrate

#endif  // TG_TOOLS_CALIBRATE_CALIBRATE_MAIN_H_
