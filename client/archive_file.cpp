#include "client/archive_file.h"

#include "client/new_file.h"
#include "proto/status.h"
#include "proto/text.h"

#include "absl/strings/str_cat.h"
#include "google/protobuf/io/coded_stream.h"
#include "google/protobuf/io/gzip_stream.h"
#include "google/protobuf/io/zero_copy_stream_impl.h"
#include "google/protobuf/util/delimited_message_util.h"

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <string_view>
#include <unistd.h>
#include <utility>

namespace assay::client {
namespace {

using google::protobuf::io::FileInputStream;
using google::protobuf::io::FileOutputStream;
using google::protobuf::io::GzipInputStream;
using google::protobuf::io::GzipOutputStream;

constexpr std::string_view kMagic = "assay archive\n";
constexpr int kStreamEnd = 1;  // of zlib: all was read; what of the checksum is there is right
// What the daemon takes as one message; more is no entry of an archive.
constexpr std::uint32_t kMostEntryBytes = 16 << 20;

class GzipWriter final : public ArchiveFileWriter {
 public:
  explicit GzipWriter(std::unique_ptr<NewFile> file)
      : file_(std::move(file)), raw_(file_->descriptor()), packed_(&raw_) {}

  absl::Status begin() {
    google::protobuf::io::CodedOutputStream out(&packed_);
    out.WriteRaw(kMagic.data(), static_cast<int>(kMagic.size()));
    return out.HadError() ? failed() : absl::OkStatus();
  }

  absl::Status add(const v1::ArchiveEntry& entry) override {
    return google::protobuf::util::SerializeDelimitedToZeroCopyStream(entry, &packed_)
               ? absl::OkStatus()
               : failed();
  }

  absl::Status finish() override {
    ASSAY_RETURN_IF_ERROR(add(v1::ArchiveEntry()));
    return packed_.Close() && raw_.Flush() ? file_->finish() : failed();
  }

 private:
  absl::Status failed() const { return absl::UnavailableError(std::strerror(raw_.GetErrno())); }

  std::unique_ptr<NewFile> file_;
  FileOutputStream raw_;
  GzipOutputStream packed_;
};

class GzipReader final : public ArchiveFileReader {
 public:
  explicit GzipReader(int descriptor)
      : descriptor_(descriptor), raw_(descriptor), packed_(&raw_, GzipInputStream::GZIP) {
    raw_.SetCloseOnDelete(true);
  }

  bool has_magic() {
    google::protobuf::io::CodedInputStream in(&packed_);
    std::string text;
    return in.ReadString(&text, static_cast<int>(kMagic.size())) && text == kMagic;
  }

  absl::StatusOr<bool> next(v1::ArchiveEntry& entry) override {
    ASSAY_ASSIGN_OR_RETURN(const bool is_read, read(entry));
    if (is_read && entry.entry_case() != v1::ArchiveEntry::ENTRY_NOT_SET) {
      return true;
    }
    // Past the end mark the checksum is read, and held against what was.
    const void* rest = nullptr;
    int num_bytes = 0;
    if (is_read && !packed_.Next(&rest, &num_bytes) && packed_.ZlibErrorCode() == kStreamEnd &&
        ends_with_its_size()) {
      return false;
    }
    return absl::DataLossError("is damaged, or ends before its end");
  }

 private:
  // False: what is there is no entry.
  absl::StatusOr<bool> read(v1::ArchiveEntry& entry) {
    // A message that is read is added to what is there.
    entry.Clear();
    google::protobuf::io::CodedInputStream in(&packed_);
    std::uint32_t size = 0;
    if (!in.ReadVarint32(&size)) {
      return false;
    }
    if (size > kMostEntryBytes) {
      return absl::ResourceExhaustedError(absl::StrCat("has an entry of ",
                                                       proto::with_commas(size),
                                                       " bytes; at most ",
                                                       proto::with_commas(kMostEntryBytes)));
    }
    const auto limit = in.PushLimit(static_cast<int>(size));
    const bool is_whole =
        entry.MergeFromCodedStream(&in) && in.ConsumedEntireMessage() && in.BytesUntilLimit() == 0;
    in.PopLimit(limit);
    return is_whole;
  }

  // The last four bytes of a gzip file are its content's size. zlib takes the end of the file for
  // the end of the stream, also where these are missing.
  bool ends_with_its_size() const {
    std::array<unsigned char, 4> last = {};
    const off_t size = lseek(descriptor_, 0, SEEK_END);
    if (size < 4 || pread(descriptor_, last.data(), last.size(), size - 4) != 4) {
      return false;
    }
    std::uint32_t stated = 0;
    for (std::size_t i = 0; i < last.size(); ++i) {
      stated |= std::uint32_t{last[i]} << (8 * i);
    }
    return stated == static_cast<std::uint32_t>(packed_.ByteCount());
  }

  const int descriptor_;  // of raw_, which closes it
  FileInputStream raw_;
  GzipInputStream packed_;
};

}  // namespace

bool is_archive(const std::string& path) {
  return ArchiveFileReader::open(path).ok();
}

absl::StatusOr<std::unique_ptr<ArchiveFileWriter>> ArchiveFileWriter::create(
    const std::string& path, bool overwrites) {
  ASSAY_ASSIGN_OR_RETURN(std::unique_ptr<NewFile> file, NewFile::create(path, overwrites));
  auto writer = std::make_unique<GzipWriter>(std::move(file));
  ASSAY_RETURN_IF_ERROR(writer->begin());
  return writer;
}

absl::StatusOr<std::unique_ptr<ArchiveFileReader>> ArchiveFileReader::open(
    const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return errno == ENOENT || errno == ENOTDIR ? absl::NotFoundError(std::strerror(errno))
                                               : absl::UnavailableError(std::strerror(errno));
  }
  auto reader = std::make_unique<GzipReader>(descriptor);
  if (!reader->has_magic()) {
    return absl::InvalidArgumentError("is no archive of experiments");
  }
  return reader;
}

}  // namespace assay::client
