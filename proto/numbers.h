// Numbers as people read them: thousands commas, microseconds, shares. The only place where units
// are converted. Not-a-number and infinity never appear: they are shown as "-".
#pragma once

#include "proto/text.h"

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::proto {

// "1 item", "1,168 items".
std::string counted(std::int64_t num, std::string_view thing);

// Four significant digits, more when there are more before the point: "0.7712", "12.34", "1,234".
std::string in_microseconds(std::int64_t value_ns);

// "0.912".
std::string ratio_text(double value);

// "about 1.6", of a ratio without an interval.
std::string estimate_text(double value);

// "[0.905, 0.921]".
std::string interval_text(double low, double high);

// Of a program: 9 digits; empty where people see "-".
std::string raw_number_text(double value);

// "62 %", "1.5 %", "0.031 %" of a share 0.62, 0.015, 0.00031.
std::string percent_text(double share);

// "1.5 s", "350 ms", "2 min 5 s".
std::string duration_text(std::int64_t value_ns);

// "2026-01-31 12:00:05" in UTC of nanoseconds since the Unix epoch; "-" for 0.
std::string time_text(std::int64_t since_epoch_ns);

// "4.62 TB/s", "989 TFLOP/s", "2.31 us", "1.5 %" of a value in bytes/s, bytes, flop/s, flop, ns or
// share, in powers of ten; a value in any other unit as it is.
std::string quantity_text(double value, std::string_view unit);

// "1.5 GiB".
std::string bytes_text(std::int64_t value_bytes);

// The first 8 digits of a digest.
std::string digest_prefix(std::string_view digest);

// Free text for one line of a terminal: control characters become spaces.
std::string one_line(std::string_view text);

}  // namespace assay::proto
