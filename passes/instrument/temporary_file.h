// TemporaryFile under the name that tools use.
#ifndef TG_PASSES_INSTRUMENT_TEMPORARY_FILE_H_
#define TG_PASSES_INSTRUMENT_TEMPORARY_FILE_H_

#include "base/temporary_file.h"

namespace tg::instrument {

using tg::TemporaryFile;

}  // namespace tg::instrument

#endif  // TG_PASSES_INSTRUMENT_TEMPORARY_FILE_H_
