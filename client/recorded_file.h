// Files in which other tools keep what they measured: Kernel Tuner caches, T4, Google Benchmark and
// nvbench JSON. A file is recognised by its content alone, and is never changed.
#pragma once

#include "proto/assay.pb.h"

#include "absl/status/statusor.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace assay::client {

inline constexpr std::size_t kMaxRecordedBytes = std::size_t{256} << 20;  // of text
inline constexpr std::size_t kMaxRecordedRows = 1'000'000;

struct RecordedFile {
  v1::Recording recording;
  std::vector<v1::RecordedRow> rows;
};

// What is odd but can be read becomes a note: numbers that JSON does not have are absent, of a file
// that ends before its end the whole entries count. INVALID_ARGUMENT: no such file (says what was
// looked for), or a fault, by its field; RESOURCE_EXHAUSTED: more than kMaxRecordedRows rows.
// file_name is left empty.
absl::StatusOr<RecordedFile> parse_recorded(std::string text);

// The formats that can be written, sorted: google_benchmark, nvbench, t4.
std::vector<std::string> export_formats();

// Strict JSON, one entry a line, the whole precision of every time. Rows are read back as they are
// where the format holds all that they have: nvbench has no samples but their mean, and Google
// Benchmark no samples of what failed. INVALID_ARGUMENT lists the formats.
absl::StatusOr<std::string> write_recorded(const RecordedFile& file, std::string_view format);

}  // namespace assay::client
