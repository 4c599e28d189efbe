// Parameters within the names of Google Benchmark, "kernel/block:128/tile:2".
#pragma once

#include "client/recorded_file.h"

#include <set>
#include <string>

namespace assay::client {

// The name of a row with the parameters that it has a value of; "benchmark" where neither it nor
// the recording has a name.
std::string google_benchmark_name(const v1::Recording& recording, const v1::RecordedRow& row);

// Makes parameters of the names' parts where every name has some; rows of one benchmark may lack
// what others have, and then have an empty value. Leaves all as they are otherwise.
// What the library itself adds, "threads:2", is no parameter unless it is among the `written`.
void split_google_benchmark_names(RecordedFile& file, const std::set<std::string>& written);

}  // namespace assay::client
