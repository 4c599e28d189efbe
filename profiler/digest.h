// XXH3-128 digests. A tensor's digest covers dtype, shape and the bytes of its live elements, so
// equal digests mean equal bits of equal tensors. Its text is canonical (big-endian hexadecimal).
#pragma once

#include "profiler/tensor.h"

#include "absl/status/statusor.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace assay::profiler {

class Digest {
 public:
  Digest() = default;

  Digest(std::uint64_t high, std::uint64_t low) : high_(high), low_(low) {}

  // 32 lower-case hexadecimal digits.
  std::string to_hex() const;
  // INVALID_ARGUMENT unless `text` is 32 hexadecimal digits.
  static absl::StatusOr<Digest> parse(std::string_view text);

  // NOLINTNEXTLINE(modernize-use-nullptr): the comparison's own 0 is no pointer
  friend auto operator<=>(const Digest&, const Digest&) = default;

 private:
  std::uint64_t high_ = 0;
  std::uint64_t low_ = 0;
};

// For tensors that come in pieces: update() takes the live bytes in flat order.
class TensorDigester {
 public:
  explicit TensorDigester(const TensorLayout& layout);

  void update(std::span<const std::byte> bytes);
  Digest finish() const;

 private:
  struct FreeState {
    void operator()(void* state) const noexcept;
  };

  std::unique_ptr<void, FreeState> state_;
};

// Requires validate(layout) to be OK and `bytes` to hold the whole tensor, live or not.
Digest digest_tensor(const TensorLayout& layout, const std::byte* bytes);

// The digest of anything else: a kernel's code, a name.
Digest digest_bytes(std::span<const std::byte> bytes);

// One digest for many named ones, in the order given.
Digest digest_of_digests(std::span<const std::pair<std::string, Digest>> digests);

}  // namespace assay::profiler
