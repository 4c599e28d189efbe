// Values, times and failures as the files of other tools write them.
#pragma once

#include "client/json_entries.h"
#include "proto/assay.pb.h"

#include "absl/status/statusor.h"

#include <optional>
#include <string>
#include <string_view>

namespace assay::client {

// A scalar as RecordedRow.values has it: integers in decimal, true, false, text without quotes;
// null is empty. INVALID_ARGUMENT: a list or an object.
absl::StatusOr<std::string> recorded_text(const OrderedJson& value);

// The other way: a number or a flag where that reads back as the same text, else a string.
OrderedJson json_of(const std::string& text);

// nullopt unless it is a number.
std::optional<double> number_of(const OrderedJson& value);

// Nanoseconds of one "ns", "us", "ms", "s", or of the word in singular or plural, also with the
// spelling "miliseconds". INVALID_ARGUMENT lists the short ones.
absl::StatusOr<double> unit_ns(std::string_view name);

// A time that is a whole number of nanoseconds but for rounding is that number.
double to_ns(double value, double unit_ns);

// What to_ns() makes `value_ns` of, where there is such a value.
double from_ns(double value_ns, double unit_ns);

// "RUNTIME: message", "RUNTIME", or "no samples" of a row that did not fail but has no time.
std::string failure_text(const v1::RecordedRow& row);

// The other way; a text that names no class is the message of a failure of class `otherwise`.
void set_failure(v1::RecordedRow& row, const std::string& text, v1::FailureClass otherwise);

void add_metric(v1::RecordedRow& row, const std::string& name, double value);

std::optional<double> find_metric(const v1::RecordedRow& row, std::string_view name);

// One line of a file; text that is not UTF-8 is made so.
std::string dump_line(const OrderedJson& value);

}  // namespace assay::client
