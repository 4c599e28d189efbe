// Rows as the tests of the formats compare them.
#pragma once

#include "client/gzip.h"
#include "client/recorded_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace assay::client {

inline RecordedFile parsed(const std::string& text) {
  absl::StatusOr<RecordedFile> file = parse_recorded(text);
  EXPECT_TRUE(file.ok()) << file.status();
  return file.ok() ? *std::move(file) : RecordedFile();
}

inline std::string error_of(const std::string& text) {
  return std::string(parse_recorded(text).status().message());
}

// One line a row, every digit of its numbers.
inline std::vector<std::string> texts_of(const RecordedFile& file) {
  std::vector<std::string> texts;
  for (const v1::RecordedRow& row : file.rows) {
    texts.push_back(row.ShortDebugString());
  }
  return texts;
}

inline std::string values_of(const v1::RecordedRow& row) {
  std::string text;
  for (const std::string& value : row.values()) {
    text += (text.empty() ? "" : ",") + value;
  }
  return text;
}

inline bool has_note(const RecordedFile& file, const std::string& part) {
  for (const std::string& note : file.recording.notes()) {
    if (note.find(part) != std::string::npos) {
      return true;
    }
  }
  return false;
}

inline std::string notes_of(const RecordedFile& file) {
  std::string text;
  for (const std::string& note : file.recording.notes()) {
    text += note + "\n";
  }
  return text;
}

// Of the public data; nullopt: not there.
inline std::optional<std::string> public_text(const std::string& name) {
  std::ifstream stream("../shared/data/" + name, std::ios::binary);
  if (!stream) {
    return std::nullopt;
  }
  std::string bytes(std::istreambuf_iterator<char>(stream), {});
  return is_gzip(bytes) ? *gunzip(bytes, kMaxRecordedBytes) : bytes;
}

}  // namespace assay::client
