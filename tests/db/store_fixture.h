// A directory of its own for each test, and messages in which every field is set.
#pragma once

#include "db/store.h"

#include "google/protobuf/message.h"
#include "gtest/gtest.h"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace assay::db {

class StoreTest : public testing::Test {
 protected:
  StoreTest();
  ~StoreTest() override;

  std::string path(const std::string& name = "assay.sqlite") const {
    return (directory_ / name).string();
  }

  // Opens path(), and fails the test if that fails.
  std::unique_ptr<Store> open() const;
  // A running experiment of that many configurations.
  std::int64_t running(Store& store, std::uint32_t num_configurations) const;
  // The text of the first column of the first row, through a connection of its own.
  std::string query(const std::string& sql) const;

  std::filesystem::path directory_;
};

// Sets every field to a value of its own, lists to two elements, as deep as the message goes.
void fill(google::protobuf::Message& message);

// Everything that a configuration can hold, as number `number`.
v1::Configuration full_configuration(std::uint32_t number);

v1::SubmitRequest request(const std::string& id, const std::string& operator_name = "qsa_decode");

v1::Golden golden(const std::string& workload, const std::string& digest);

}  // namespace assay::db
