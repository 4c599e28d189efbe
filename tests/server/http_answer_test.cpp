#include "server/http_answer.h"

#include "proto/assay.pb.h"

#include <gtest/gtest.h>

namespace assay::server {
namespace {

TEST(HttpAnswer, GivesEveryCodeItsStatus) {
  using absl::StatusCode;
  const std::pair<StatusCode, int> expected[] = {{StatusCode::kInvalidArgument, 400},
                                                 {StatusCode::kNotFound, 404},
                                                 {StatusCode::kAlreadyExists, 409},
                                                 {StatusCode::kFailedPrecondition, 412},
                                                 {StatusCode::kResourceExhausted, 429},
                                                 {StatusCode::kInternal, 500},
                                                 {StatusCode::kDataLoss, 500},
                                                 {StatusCode::kUnavailable, 503},
                                                 {StatusCode::kDeadlineExceeded, 504}};
  for (const auto& [code, status] : expected) {
    EXPECT_EQ(http_status(code), status) << absl::StatusCodeToString(code);
  }
}

TEST(HttpAnswer, SaysAnErrorAsJson) {
  const HttpAnswer answer = error_answer(absl::NotFoundError("no `x` \"here\""));
  EXPECT_EQ(answer.status, 404);
  EXPECT_EQ(answer.content_type, "application/json");
  EXPECT_EQ(answer.body, R"({"code":"NOT_FOUND","message":"no `x` \"here\""})");
}

TEST(HttpAnswer, WritesMessagesOnOneLineWithTheNamesOfTheProto) {
  v1::Experiment experiment;
  experiment.set_experiment_id(12);
  experiment.set_state(v1::DONE);
  experiment.set_message("a\nb");
  const auto json = to_json(experiment);
  ASSERT_TRUE(json.ok()) << json.status();
  EXPECT_EQ(*json, R"({"experiment_id":"12","state":"DONE","message":"a\nb"})");
}

TEST(HttpAnswer, BoundsTheTextOfAMessage) {
  // Six bytes of text for each of the message.
  v1::Experiment experiment;
  experiment.set_message(std::string(kMaxHttpMessageBytes / 6 - 20, '\1'));
  EXPECT_TRUE(to_json(experiment).ok());
  for (const std::size_t num_bytes : {kMaxHttpMessageBytes / 6, kMaxHttpMessageBytes}) {
    experiment.set_message(std::string(num_bytes, '\1'));
    EXPECT_EQ(to_json(experiment).status(),
              absl::ResourceExhaustedError(
                  "the answer has more than 67,108,864 bytes, the limit: ask for less"))
        << num_bytes;
  }
}

}  // namespace
}  // namespace assay::server
