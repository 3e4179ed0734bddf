// Compares reports of runs: tg-report --compare before.json after.json
#include "tools/report/report_main.h"

int main(int argc, char** argv) { return tg::report::ReportMain(argc, argv); }
