// What is odd about measured rows, whatever format they came in.
#pragma once

#include "client/recorded_file.h"

#include <string>

namespace assay::client {

// Adds notes on first samples that are cold, times that disagree with their samples, failed rows
// with samples, times that are not above 0, and rows without any time.
void add_notes(RecordedFile& file);

// Why no row can be called the best of the file; empty: one can. Benchmarks of several names, and
// devices, are not to be ranked against each other.
std::string unranked_because(const RecordedFile& file);

}  // namespace assay::client
