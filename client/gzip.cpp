#include "client/gzip.h"

#include "proto/text.h"

#include "absl/strings/str_cat.h"

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <zlib.h>

namespace assay::client {
namespace {

constexpr int kGzipOnly = 16 + MAX_WBITS;

struct EndInflate {
  void operator()(z_stream* stream) const noexcept { inflateEnd(stream); }
};

}  // namespace

bool is_gzip(std::string_view bytes) {
  return bytes.starts_with("\x1f\x8b");
}

absl::StatusOr<std::string> gunzip(std::string_view bytes, std::size_t max_bytes) {
  z_stream stream{};
  if (inflateInit2(&stream, kGzipOnly) != Z_OK) {
    return absl::ResourceExhaustedError("gzip: no memory");
  }
  const std::unique_ptr<z_stream, EndInflate> ender(&stream);
  std::string text;
  std::array<char, 65'536> buffer{};
  std::string_view rest = bytes;
  for (;;) {
    const std::size_t num_given =
        std::min<std::size_t>(rest.size(), std::numeric_limits<uInt>::max());
    // zlib only reads there, but says so only in newer versions.
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
    stream.avail_in = static_cast<uInt>(num_given);
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    const int result = inflate(&stream, Z_NO_FLUSH);
    if (result == Z_BUF_ERROR) {
      return absl::InvalidArgumentError("gzip: the file ends before its end");
    }
    if (result != Z_OK && result != Z_STREAM_END) {
      return absl::InvalidArgumentError(
          absl::StrCat("gzip: damaged: ", stream.msg == nullptr ? zError(result) : stream.msg));
    }
    text.append(buffer.data(), buffer.size() - stream.avail_out);
    if (text.size() > max_bytes) {
      return absl::ResourceExhaustedError(
          absl::StrCat("gzip: unpacks to more than ",
                       proto::with_commas(static_cast<std::int64_t>(max_bytes)),
                       " bytes, the limit"));
    }
    rest.remove_prefix(num_given - stream.avail_in);
    if (result == Z_STREAM_END) {
      if (!is_gzip(rest)) {
        return text;
      }
      inflateReset(&stream);
    }
  }
}

}  // namespace assay::client
