// Parameters within the names of Google Benchmark, "kernel/block:128/tile:2".
#pragma once

#include "client/recorded_file.h"

#include <string>

namespace assay::client {

// The name of a row with its parameters; "benchmark" where neither it nor the recording has one.
std::string google_benchmark_name(const v1::Recording& recording, const v1::RecordedRow& row);

// Makes parameters of the names' parts where every row has the same ones in the same order; leaves
// all as they are otherwise.
void split_google_benchmark_names(RecordedFile& file);

}  // namespace assay::client
