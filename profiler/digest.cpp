#include "profiler/digest.h"

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "xxhash.h"

#include <array>

namespace assay::profiler {

namespace {

XXH3_state_t* state_of(void* state) {
  return static_cast<XXH3_state_t*>(state);
}

Digest from_hash(XXH128_hash_t hash) {
  return {hash.high64, hash.low64};
}

// Little-endian whatever the host, so that a digest means the same everywhere.
void update_integer(XXH3_state_t* state, std::uint64_t value) {
  std::array<unsigned char, 8> bytes{};
  for (unsigned char& byte : bytes) {
    byte = static_cast<unsigned char>(value & 0xffU);
    value >>= 8U;
  }
  XXH3_128bits_update(state, bytes.data(), bytes.size());
}

// Length first, so that no two texts run together.
void update_text(XXH3_state_t* state, std::string_view text) {
  update_integer(state, text.size());
  XXH3_128bits_update(state, text.data(), text.size());
}

int digit_of(char c) {
  if (c >= '0' && c <= '9') {
    return c - '0';
  }
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

}  // namespace

std::string Digest::to_hex() const {
  return absl::StrCat(absl::Hex(high_, absl::kZeroPad16), absl::Hex(low_, absl::kZeroPad16));
}

absl::StatusOr<Digest> Digest::parse(std::string_view text) {
  Digest digest;
  bool valid = text.size() == 32;
  for (std::size_t i = 0; valid && i < text.size(); ++i) {
    const int digit = digit_of(text[i]);
    valid = digit >= 0;
    std::uint64_t& half = i < 16 ? digest.high_ : digest.low_;
    half = (half << 4U) | static_cast<std::uint64_t>(digit & 0xf);
  }
  if (!valid) {
    return absl::InvalidArgumentError(
        absl::StrCat("digest: `", std::string(text), "` is not 32 hexadecimal digits"));
  }
  return digest;
}

void TensorDigester::FreeState::operator()(void* state) const noexcept {
  XXH3_freeState(static_cast<XXH3_state_t*>(state));
}

TensorDigester::TensorDigester(const TensorLayout& layout) : state_(XXH3_createState()) {
  XXH3_state_t* state = state_of(state_.get());
  XXH3_128bits_reset(state);
  update_text(state, layout.dtype);
  update_integer(state, layout.shape.size());
  for (const std::int64_t extent : layout.shape) {
    update_integer(state, static_cast<std::uint64_t>(extent));
  }
}

void TensorDigester::update(std::span<const std::byte> bytes) {
  XXH3_128bits_update(state_of(state_.get()), bytes.data(), bytes.size());
}

Digest TensorDigester::finish() const {
  return from_hash(XXH3_128bits_digest(state_of(state_.get())));
}

Digest digest_tensor(const TensorLayout& layout, const std::byte* bytes) {
  TensorDigester digester(layout);
  const std::int64_t width = element_bytes(layout.dtype).value_or(1);
  for (const ElementRange& range : layout.live) {
    digester.update(
        {bytes + range.begin * width, static_cast<std::size_t>((range.end - range.begin) * width)});
  }
  return digester.finish();
}

Digest digest_bytes(std::span<const std::byte> bytes) {
  return from_hash(XXH3_128bits(bytes.data(), bytes.size()));
}

Digest digest_of_digests(std::span<const std::pair<std::string, Digest>> digests) {
  const std::unique_ptr<XXH3_state_t, decltype([](XXH3_state_t* state) { XXH3_freeState(state); })>
      state(XXH3_createState());
  XXH3_128bits_reset(state.get());
  for (const auto& [name, digest] : digests) {
    update_text(state.get(), name);
    update_text(state.get(), digest.to_hex());
  }
  return from_hash(XXH3_128bits_digest(state.get()));
}

}  // namespace assay::profiler
