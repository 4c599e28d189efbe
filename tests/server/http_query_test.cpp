#include "server/http_query.h"

#include "proto/assay.pb.h"

#include <gtest/gtest.h>

namespace assay::server {
namespace {

template <class Request>
std::string error_of(const Query& query) {
  Request request;
  const absl::Status status = fill_request(query, request);
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
  return std::string(status.message());
}

TEST(HttpQuery, NamesAFieldThatIsNotThereAndListsThoseThatAre) {
  EXPECT_EQ(error_of<v1::WatchRequest>({{"id", "1"}}),
            "id: no such field; it is one of experiment_id");
  EXPECT_EQ(error_of<v1::ListDevicesRequest>({{"device", "cpu"}}),
            "device: no such field; there is none");
}

TEST(HttpQuery, NamesAValueThatDoesNotFit) {
  EXPECT_EQ(error_of<v1::GetRequest>({{"experiment_id", "twelve"}}),
            "experiment_id: `twelve` is no integer of 64 bits");
  EXPECT_EQ(error_of<v1::ListRequest>({{"page_size", "-1"}}),
            "page_size: `-1` is no integer of 32 bits without a sign");
  EXPECT_EQ(error_of<v1::ListRequest>({{"page_size", "4294967296"}}),
            "page_size: `4294967296` is no integer of 32 bits without a sign");
  EXPECT_EQ(error_of<v1::GetRequest>({{"include_samples", "1"}}),
            "include_samples: `1` is neither true nor false");
  EXPECT_NE(error_of<v1::ListRequest>({{"state", "done"}}).find("`done` is not one of"),
            std::string::npos);
  EXPECT_EQ(error_of<v1::Ceiling>({{"value", "nan"}}), "value: `nan` is no finite number");
}

TEST(HttpQuery, RefusesAFieldThatComesTwice) {
  EXPECT_EQ(error_of<v1::ListRequest>({{"device", "a"}, {"device", "b"}}), "device: comes twice");
}

TEST(HttpQuery, RefusesWhatAQueryCannotSay) {
  EXPECT_EQ(error_of<v1::UploadChunk>({{"data", "x"}}), "data: bytes cannot be given in a query");
  EXPECT_EQ(error_of<v1::Device>({{"ceilings", "x"}}),
            "ceilings: a list of messages cannot be given in a query");
  EXPECT_EQ(error_of<v1::Device>({{"ceilings.value", "1"}}),
            "ceilings.value: `ceilings` has no fields to name");
  EXPECT_EQ(error_of<v1::LookupTuningRequest>({{"axes", "kv"}}), "axes: `kv` is not NAME=VALUE");
  EXPECT_EQ(error_of<v1::LookupTuningRequest>({{"axes", "=1"}}), "axes: `=1` is not NAME=VALUE");
}

TEST(HttpQuery, FillsNumbersNamesAndLists) {
  v1::ListRequest list;
  ASSERT_TRUE(fill_request({{"page_size", "20"}, {"state", "DONE"}, {"device", "cpu"}}, list).ok());
  EXPECT_EQ(list.page_size(), 20U);
  EXPECT_EQ(list.state(), v1::DONE);
  EXPECT_EQ(list.device(), "cpu");

  v1::LookupTuningRequest lookup;
  ASSERT_TRUE(fill_request({{"axes", "kv=int8"}, {"axes", "n=a=b"}}, lookup).ok());
  ASSERT_EQ(lookup.axes_size(), 2);
  EXPECT_EQ(lookup.axes(0).value(), "int8");
  EXPECT_EQ(lookup.axes(1).name(), "n");
  EXPECT_EQ(lookup.axes(1).value(), "a=b");

  v1::FindBlobsRequest blobs;
  ASSERT_TRUE(fill_request({{"digests", "a"}, {"digests", "a"}}, blobs).ok());
  EXPECT_EQ(blobs.digests_size(), 2);
}

TEST(HttpQuery, FollowsDots) {
  v1::SubmitRequest request;
  ASSERT_TRUE(
      fill_request({{"spec.baseline.variant", "base"}, {"spec.device", "cpu"}}, request).ok());
  EXPECT_EQ(request.spec().baseline().variant(), "base");
  EXPECT_EQ(request.spec().device(), "cpu");
  EXPECT_NE(error_of<v1::SubmitRequest>({{"spec", "x"}}).find("name a field of it, `spec.FIELD`"),
            std::string::npos);
}

}  // namespace
}  // namespace assay::server
