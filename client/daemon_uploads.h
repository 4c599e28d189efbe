// What a client streams to the daemon, message by message: the calls of Connection that carry
// files.
#pragma once

#include "client/daemon_stub.h"
#include "client/recorded_file.h"
#include "proto/assay.pb.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"

#include <functional>
#include <string>

namespace assay::client {

absl::Status upload_blob(DaemonStub& daemon, const std::string& digest, const std::string& bytes);

absl::StatusOr<v1::Recording> upload_recording(DaemonStub& daemon, const RecordedFile& file);

// `next` as of Connection::import_archive().
absl::StatusOr<v1::ImportArchiveResponse> upload_archive(
    DaemonStub& daemon, const std::function<absl::StatusOr<bool>(v1::ArchiveEntry&)>& next);

}  // namespace assay::client
