// Tuning tables as people and programs read them.
#pragma once

#include "client/table.h"
#include "proto/assay.pb.h"

#include <string>

namespace assay::client {

// One entry with what it rests on, or why there is none.
std::string tuning_text(const v1::LookupTuningResponse& answer);

// A table for each operator and device; CSV: raw figures under the names of the data model.
std::string tunings_text(const v1::ListTuningsResponse& all, Format format);

}  // namespace assay::client
