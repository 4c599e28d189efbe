#include "client/trace_json.h"

#include "client/saturated.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

#include <cmath>

namespace assay::client {
namespace {

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      absl::StrAppend(&result, absl::StrFormat("\\u%04x", static_cast<unsigned>(c)));
    } else {
      result += c;
    }
  }
  return result + "\"";
}

std::string microseconds(std::int64_t time_ns) {
  const std::uint64_t size =
      time_ns < 0 ? 0 - static_cast<std::uint64_t>(time_ns) : static_cast<std::uint64_t>(time_ns);
  return absl::StrFormat("%s%d.%03d", time_ns < 0 ? "-" : "", size / 1000, size % 1000);
}

std::string track_members(const Track& track) {
  return absl::StrCat(",\"pid\":", track.process, ",\"tid\":", track.thread);
}

}  // namespace

JsonMembers& JsonMembers::add_raw(std::string_view name, std::string_view value) {
  absl::StrAppend(&text_, text_.empty() ? "" : ",", quoted(name), ":", std::string(value));
  return *this;
}

JsonMembers& JsonMembers::add(std::string_view name, std::string_view value) {
  return add_raw(name, quoted(value));
}

JsonMembers& JsonMembers::add_number(std::string_view name, double value) {
  return add_raw(name, std::isfinite(value) ? absl::StrFormat("%.9g", value) : "null");
}

JsonMembers& JsonMembers::add_integer(std::string_view name, std::uint32_t value) {
  return add_raw(name, absl::StrCat(value));
}

JsonMembers& JsonMembers::add_integer64(std::string_view name, std::int64_t value) {
  return add(name, absl::StrCat(value));
}

JsonMembers& JsonMembers::add_flag(std::string_view name, bool value) {
  return add_raw(name, value ? "true" : "false");
}

void TraceJson::add_event(std::string_view phase, std::string_view name, std::string_view members) {
  absl::StrAppend(&events_,
                  events_.empty() ? "" : ",\n",
                  "{\"ph\":",
                  quoted(phase),
                  ",\"name\":",
                  quoted(name),
                  std::string(members),
                  "}");
}

void TraceJson::name_process(std::uint32_t process, std::string_view name) {
  const std::string head = absl::StrCat(",\"pid\":", process, ",\"args\":{");
  add_event("M", "process_name", absl::StrCat(head, JsonMembers().add("name", name).text(), "}"));
  add_event("M",
            "process_sort_index",
            absl::StrCat(head, JsonMembers().add_integer("sort_index", process).text(), "}"));
}

void TraceJson::name_track(const Track& track, std::string_view name) {
  const std::string head = track_members(track) + ",\"args\":{";
  add_event("M", "thread_name", absl::StrCat(head, JsonMembers().add("name", name).text(), "}"));
  add_event("M",
            "thread_sort_index",
            absl::StrCat(head, JsonMembers().add_integer("sort_index", track.thread).text(), "}"));
}

void TraceJson::add_slice(const Track& track,
                          std::string_view name,
                          std::int64_t start_ns,
                          std::int64_t end_ns,
                          std::string_view arguments) {
  add_event("X",
            name,
            absl::StrCat(track_members(track),
                         ",\"ts\":",
                         microseconds(start_ns),
                         ",\"dur\":",
                         microseconds(saturated_difference(end_ns, start_ns)),
                         ",\"args\":{",
                         std::string(arguments),
                         "}"));
}

void TraceJson::add_counter(std::uint32_t process,
                            std::string_view name,
                            std::string_view unit,
                            std::int64_t start_ns,
                            double value) {
  add_event("C",
            name,
            absl::StrCat(",\"pid\":",
                         process,
                         ",\"ts\":",
                         microseconds(start_ns),
                         ",\"args\":{",
                         JsonMembers().add_number(unit, value).text(),
                         "}"));
}

std::string TraceJson::finish(const JsonMembers& other) const {
  return absl::StrCat("{\"displayTimeUnit\":\"ns\",\n\"otherData\":{",
                      other.text(),
                      "},\n\"traceEvents\":[\n",
                      events_,
                      "\n]}\n");
}

}  // namespace assay::client
