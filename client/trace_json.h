// Events of Chrome's trace format, which Perfetto reads too. Times are microseconds there; they are
// written with three decimals, so that no nanosecond is lost.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace assay::client {

// Members of one object, "\"round\":0,\"arm\":\"A\"". A number that JSON does not have is null, and
// 64-bit integers are text, as proto JSON has them.
class JsonMembers {
 public:
  JsonMembers& add(std::string_view name, std::string_view value);
  JsonMembers& add_number(std::string_view name, double value);
  JsonMembers& add_integer(std::string_view name, std::uint32_t value);
  JsonMembers& add_integer64(std::string_view name, std::int64_t value);
  JsonMembers& add_flag(std::string_view name, bool value);

  const std::string& text() const { return text_; }

 private:
  JsonMembers& add_raw(std::string_view name, std::string_view value);

  std::string text_;
};

// A track is a thread of a process there.
struct Track {
  std::uint32_t process = 0;
  std::uint32_t thread = 0;
};

class TraceJson {
 public:
  void name_process(std::uint32_t process, std::string_view name);

  // Tracks of a process are shown in the order of their numbers.
  void name_track(const Track& track, std::string_view name);

  void add_slice(const Track& track,
                 std::string_view name,
                 std::int64_t start_ns,
                 std::int64_t end_ns,
                 std::string_view arguments);

  void add_counter(std::uint32_t process,
                   std::string_view name,
                   std::string_view unit,
                   std::int64_t start_ns,
                   double value);

  // The whole document; `other` are the members of otherData.
  std::string finish(const JsonMembers& other) const;

 private:
  void add_event(std::string_view phase, std::string_view name, std::string_view members);

  std::string events_;
};

}  // namespace assay::client
