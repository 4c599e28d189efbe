#include "server/recordings.h"

#include "proto/status.h"
#include "proto/text.h"
#include "server/turn.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

namespace assay::server {
namespace {

constexpr std::size_t kMaxTextBytes = 4'096;
constexpr int kMaxParameters = 1'000;
constexpr int kMaxNotes = 100;

using proto::with_commas;

absl::Status over_limit(std::string_view what, std::int64_t size, std::int64_t limit) {
  return absl::ResourceExhaustedError(absl::StrCat(
      std::string(what), " ", with_commas(size), ", the limit is ", with_commas(limit)));
}

absl::Status check_text(std::string_view field, const std::string& text) {
  if (text.size() > kMaxTextBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat(std::string(field), ": has ", text.size(), " bytes, at most 4,096"));
  }
  return absl::OkStatus();
}

absl::Status check_recording(const v1::Recording& recording) {
  if (recording.format().empty()) {
    return absl::InvalidArgumentError("recording.format: missing; expected in the first chunk");
  }
  if (recording.recording_id() != 0) {
    return absl::InvalidArgumentError("recording.recording_id: is given here; leave it out");
  }
  if (recording.file_name().find('/') != std::string::npos) {
    return absl::InvalidArgumentError("recording.file_name: must not name a folder");
  }
  if (recording.parameters_size() > kMaxParameters) {
    return absl::InvalidArgumentError("recording.parameters: at most 1,000");
  }
  if (recording.notes_size() > kMaxNotes) {
    return absl::InvalidArgumentError("recording.notes: at most 100");
  }
  ASSAY_RETURN_IF_ERROR(check_text("recording.format", recording.format()));
  ASSAY_RETURN_IF_ERROR(check_text("recording.file_name", recording.file_name()));
  ASSAY_RETURN_IF_ERROR(check_text("recording.name", recording.name()));
  ASSAY_RETURN_IF_ERROR(check_text("recording.device_name", recording.device_name()));
  ASSAY_RETURN_IF_ERROR(check_text("recording.objective", recording.objective()));
  for (const std::string& parameter : recording.parameters()) {
    ASSAY_RETURN_IF_ERROR(check_text("recording.parameters", parameter));
  }
  for (const std::string& note : recording.notes()) {
    ASSAY_RETURN_IF_ERROR(check_text("recording.notes", note));
  }
  return absl::OkStatus();
}

absl::Status check_row(const v1::Recording& recording, const v1::RecordedRow& row) {
  if (row.values_size() != recording.parameters_size()) {
    return absl::InvalidArgumentError(absl::StrCat("values: has ",
                                                   row.values_size(),
                                                   ", expected one for each of ",
                                                   recording.parameters_size(),
                                                   " parameters"));
  }
  if (!v1::FailureClass_IsValid(row.failure())) {
    return absl::InvalidArgumentError("failure: is no failure class");
  }
  if (!std::isfinite(row.time_ns()) ||
      !std::ranges::all_of(row.samples_ns(), [](double value) { return std::isfinite(value); })) {
    return absl::InvalidArgumentError("samples_ns and time_ns: must be finite");
  }
  for (const v1::Metric& metric : row.metrics()) {
    if (!std::isfinite(metric.value())) {
      return absl::InvalidArgumentError("metrics: must be finite; leave out what is not");
    }
  }
  return absl::OkStatus();
}

// What has arrived so far.
struct Received {
  v1::Recording recording;
  std::vector<v1::RecordedRow> rows;
  std::int64_t num_bytes = 0;
  bool has_begun = false;
};

absl::Status add(v1::ImportChunk chunk, Received& received) {
  const auto num_bytes = static_cast<std::int64_t>(chunk.ByteSizeLong());
  received.num_bytes += num_bytes;
  if (num_bytes > kMaxRecordedChunkBytes) {
    return over_limit("a chunk has bytes:", num_bytes, kMaxRecordedChunkBytes);
  }
  if (received.num_bytes > kMaxRecordedBytes) {
    return over_limit(
        "the chunks have bytes: more than", received.num_bytes - 1, kMaxRecordedBytes);
  }
  if (!received.has_begun) {
    ASSAY_RETURN_IF_ERROR(check_recording(chunk.recording()));
    received.recording = std::move(*chunk.mutable_recording());
    received.has_begun = true;
  } else if (chunk.has_recording()) {
    return absl::InvalidArgumentError("recording: only the first chunk may have it");
  }
  for (v1::RecordedRow& row : *chunk.mutable_rows()) {
    const auto number = static_cast<std::int64_t>(received.rows.size()) + 1;
    if (number > kMaxRecordedRows) {
      return over_limit("rows: more than", number - 1, kMaxRecordedRows);
    }
    if (const absl::Status status = check_row(received.recording, row); !status.ok()) {
      return proto::annotate(status, absl::StrCat("rows[", number, "]"));
    }
    row.set_row(static_cast<std::uint32_t>(number));
    received.rows.push_back(std::move(row));
  }
  return absl::OkStatus();
}

}  // namespace

Recordings::Recordings(db::Store& store, std::function<std::int64_t()> now_ns)
    : store_(store), now_ns_(std::move(now_ns)) {}

absl::StatusOr<v1::Recording> Recordings::receive(const NextChunk& next) {
  const Turn turn(is_receiving_);
  if (!turn.is_mine()) {
    return absl::ResourceExhaustedError(
        "another import is being received, the limit is one at a time: try again when it has "
        "ended");
  }
  Received received;
  v1::ImportChunk chunk;
  while (next(chunk)) {
    ASSAY_RETURN_IF_ERROR(add(std::move(chunk), received));
    chunk.Clear();
  }
  if (!received.has_begun) {
    return absl::InvalidArgumentError("recording: missing; expected at least one chunk");
  }
  v1::Recording& recording = received.recording;
  recording.set_num_rows(static_cast<std::uint32_t>(received.rows.size()));
  recording.set_imported_ns(now_ns_());
  ASSAY_ASSIGN_OR_RETURN(const std::int64_t id, store_.add_recording(recording, received.rows));
  recording.set_recording_id(id);
  return std::move(recording);
}

absl::StatusOr<v1::ListRecordingsResponse> Recordings::list() const {
  ASSAY_ASSIGN_OR_RETURN(const std::vector<v1::Recording> recordings, store_.recordings());
  v1::ListRecordingsResponse response;
  response.mutable_recordings()->Add(recordings.begin(), recordings.end());
  return response;
}

absl::StatusOr<v1::GetRecordingResponse> Recordings::get(v1::GetRecordingRequest request,
                                                         std::size_t max_bytes) const {
  if (request.recording_id() < 0) {
    return absl::InvalidArgumentError("recording_id: must not be negative");
  }
  for (;;) {
    ASSAY_ASSIGN_OR_RETURN(v1::GetRecordingResponse page, store_.recording(request));
    if (page.ByteSizeLong() <= max_bytes) {
      return page;
    }
    if (page.rows_size() <= 1) {
      return over_limit(absl::StrCat("row ", request.after_row() + 1, " has bytes:"),
                        static_cast<std::int64_t>(page.ByteSizeLong()),
                        static_cast<std::int64_t>(max_bytes));
    }
    request.set_page_size(static_cast<std::uint32_t>(page.rows_size()) / 2);
  }
}

}  // namespace assay::server
