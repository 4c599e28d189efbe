#include "client/daemon_uploads.h"

#include "absl/strings/str_cat.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>

namespace assay::client {
namespace {

constexpr std::chrono::minutes kUploadDeadline{10};
constexpr std::size_t kChunkBytes = std::size_t{1} << 20;  // the most that one may have
constexpr std::size_t kFieldBytes = 8;  // at most, of the tag and the length of a row

}  // namespace

absl::Status upload_blob(DaemonStub& daemon, const std::string& digest, const std::string& bytes) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kUploadDeadline);
  v1::UploadResponse response;
  const std::unique_ptr<grpc::ClientWriter<v1::UploadChunk>> writer =
      daemon.stub().Upload(&context, &response);
  v1::UploadChunk chunk;
  chunk.set_digest(digest);
  chunk.set_num_bytes(static_cast<std::int64_t>(bytes.size()));
  // One chunk also for no bytes; a daemon that refuses does not read the rest.
  bool is_read = true;
  for (std::size_t begin = 0; is_read && (begin == 0 || begin < bytes.size());
       begin += kChunkBytes) {
    chunk.set_data(bytes.substr(begin, kChunkBytes));
    is_read = writer->Write(chunk);
    chunk.Clear();
  }
  writer->WritesDone();
  const grpc::Status status = writer->Finish();
  return status.ok() ? absl::OkStatus() : daemon.explain(status);
}

absl::StatusOr<v1::Recording> upload_recording(DaemonStub& daemon, const RecordedFile& file) {
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kCallDeadline);
  v1::Recording stored;
  const auto writer = daemon.stub().Import(&context, &stored);
  v1::ImportChunk chunk;
  *chunk.mutable_recording() = file.recording;
  std::size_t num_bytes = chunk.ByteSizeLong();
  // A write that fails has its reason in the status at the end.
  bool goes_on = true;
  for (const v1::RecordedRow& row : file.rows) {
    const std::size_t row_bytes = row.ByteSizeLong() + kFieldBytes;
    if (num_bytes + row_bytes > kChunkBytes) {
      goes_on = goes_on && writer->Write(chunk);
      chunk.Clear();
      num_bytes = 0;
    }
    if (row_bytes > kChunkBytes) {
      context.TryCancel();
      static_cast<void>(writer->Finish());
      return absl::InvalidArgumentError(absl::StrCat(
          "row ", row.row(), ": has ", row_bytes, " bytes, the limit is ", kChunkBytes));
    }
    *chunk.add_rows() = row;
    num_bytes += row_bytes;
  }
  if (goes_on && writer->Write(chunk)) {
    writer->WritesDone();
  }
  const grpc::Status status = writer->Finish();
  return status.ok() ? absl::StatusOr<v1::Recording>(stored) : daemon.explain(status);
}

absl::StatusOr<v1::ImportArchiveResponse> upload_archive(
    DaemonStub& daemon, const std::function<absl::StatusOr<bool>(v1::ArchiveEntry&)>& next) {
  grpc::ClientContext context;
  v1::ImportArchiveResponse response;
  const std::unique_ptr<grpc::ClientWriter<v1::ArchiveEntry>> writer =
      daemon.stub().ImportArchive(&context, &response);
  v1::ArchiveEntry entry;
  for (;;) {
    const absl::StatusOr<bool> is_there = next(entry);
    if (!is_there.ok()) {
      context.TryCancel();
      static_cast<void>(writer->Finish());
      return is_there.status();
    }
    if (!*is_there || !writer->Write(entry)) {
      break;
    }
  }
  writer->WritesDone();
  const grpc::Status status = writer->Finish();
  return status.ok() ? absl::StatusOr<v1::ImportArchiveResponse>(response) : daemon.explain(status);
}

}  // namespace assay::client
