// The readers and writers of each format, for recorded_file.cpp alone. A reader has what
// read_entries() gave of the text before, adds its rows and names what it read. INVALID_ARGUMENT
// names the entry and its field.
#pragma once

#include "client/json_entries.h"
#include "client/recorded_file.h"

#include "absl/status/status.h"

#include <string>
#include <string_view>

namespace assay::client {

// Times are milliseconds. A word instead of a time is a failure.
absl::Status read_cache(std::string_view text, const JsonOutline& outline, RecordedFile& file);

// Times are in metadata.timeunit, milliseconds where there is none.
absl::Status read_t4(std::string_view text, const JsonOutline& outline, RecordedFile& file);
std::string write_t4(const RecordedFile& file);

// Every entry has a unit of its own. Repetitions are the samples of one row; names of the form
// base/a:1/b:2, when all are of it, become parameters, empty where a name lacks one.
absl::Status read_google_benchmark(std::string_view text,
                                   const JsonOutline& outline,
                                   RecordedFile& file);
std::string write_google_benchmark(const RecordedFile& file);

// The device is the first parameter, then every axis of every benchmark; a row without an axis has
// an empty value. A skipped state is no valid configuration. Times are seconds.
absl::Status read_nvbench(std::string_view text, const JsonOutline& outline, RecordedFile& file);
std::string write_nvbench(const RecordedFile& file);

}  // namespace assay::client
