// A trace as a viewer reads it.
#pragma once

#include "client/trace.h"

#include "google/protobuf/struct.pb.h"
#include "google/protobuf/util/json_util.h"
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace assay::client {

using google::protobuf::Struct;
using google::protobuf::Value;

struct Event {
  std::string phase;
  std::string name;
  int process = 0;
  int track = 0;
  std::int64_t start_ns = 0;
  std::int64_t end_ns = 0;
  Struct arguments;
};

inline const Value& member(const Struct& object, const std::string& name) {
  const auto found = object.fields().find(name);
  return found == object.fields().end() ? Value::default_instance() : found->second;
}

inline std::int64_t ns_of(const Struct& object, const std::string& name) {
  return std::llround(member(object, name).number_value() * 1000);
}

inline Struct parsed(const std::string& text) {
  Struct document;
  const auto status = google::protobuf::util::JsonStringToMessage(text, &document);
  EXPECT_TRUE(status.ok()) << status.ToString() << "\n" << text;
  return document;
}

inline std::vector<Event> events_of(const std::string& text) {
  std::vector<Event> events;
  const Struct document = parsed(text);
  for (const Value& value : member(document, "traceEvents").list_value().values()) {
    const Struct& event = value.struct_value();
    const std::int64_t start_ns = ns_of(event, "ts");
    events.push_back({.phase = member(event, "ph").string_value(),
                      .name = member(event, "name").string_value(),
                      .process = static_cast<int>(member(event, "pid").number_value()),
                      .track = static_cast<int>(member(event, "tid").number_value()),
                      .start_ns = start_ns,
                      .end_ns = start_ns + ns_of(event, "dur"),
                      .arguments = member(event, "args").struct_value()});
  }
  return events;
}

inline std::vector<Event> events_of(const v1::Experiment& experiment) {
  const auto text = trace_text(experiment);
  EXPECT_TRUE(text.ok()) << text.status().message();
  return text.ok() ? events_of(*text) : std::vector<Event>();
}

// "track: slice [start, end]" of every slice but the schedule's, in the order written.
inline std::vector<std::string> drawn(const std::vector<Event>& events) {
  std::map<int, std::string> tracks;
  std::vector<std::string> lines;
  for (const Event& event : events) {
    if (event.name == "thread_name") {
      tracks[event.track] = member(event.arguments, "name").string_value();
    }
    if (event.phase == "X" && tracks[event.track] != "schedule") {
      lines.push_back(tracks[event.track] + ": " + event.name + " [" +
                      std::to_string(event.start_ns) + ", " + std::to_string(event.end_ns) + "]");
    }
  }
  return lines;
}

inline bool contains(const Event& outer, const Event& inner) {
  return outer.start_ns <= inner.start_ns && inner.end_ns <= outer.end_ns;
}

inline void expect_nested(const std::vector<Event>& events) {
  std::map<std::pair<int, int>, std::vector<Event>> tracks;
  for (const Event& event : events) {
    if (event.phase == "X") {
      tracks[{event.process, event.track}].push_back(event);
    }
  }
  for (const auto& [track, slices] : tracks) {
    for (std::size_t i = 0; i < slices.size(); ++i) {
      EXPECT_LE(slices[i].start_ns, slices[i].end_ns);
      for (std::size_t j = i + 1; j < slices.size(); ++j) {
        EXPECT_LE(slices[i].start_ns, slices[j].start_ns) << "slices are written as they begin";
        const bool apart = slices[i].end_ns <= slices[j].start_ns;
        // A viewer nests what is written later in what was written before.
        EXPECT_TRUE(apart || contains(slices[i], slices[j]))
            << slices[i].name << " and " << slices[j].name << " on track " << track.second;
      }
    }
  }
}

inline std::vector<Event> named(const std::vector<Event>& events, const std::string& name) {
  std::vector<Event> found;
  for (const Event& event : events) {
    if (event.name == name) {
      found.push_back(event);
    }
  }
  return found;
}

}  // namespace assay::client
