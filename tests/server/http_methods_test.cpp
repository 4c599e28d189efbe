#include "server/http_methods.h"

#include "server/service.h"
#include "tests/server/fixture.h"

#include "google/protobuf/util/json_util.h"

namespace assay::server {
namespace {

class HttpMethods : public testing::Test {
 protected:
  HttpAnswer get(const std::string& method, const Query& query = {}) {
    return read_methods().at(method)(backend(), query);
  }

  ReadBackend backend() {
    return {
        .service = *service_, .scheduler = daemon_.scheduler(), .has_left = [] { return false; }};
  }

  Daemon daemon_;
  std::unique_ptr<v1::Assay::Service> service_ =
      make_service(daemon_.scheduler(), daemon_.goldens());
};

TEST_F(HttpMethods, SaysWhatTheServiceSays) {
  const HttpAnswer answer = get("Get", {{"experiment_id", "7"}});
  EXPECT_EQ(answer.status, 404);
  EXPECT_NE(answer.body.find("\"code\":\"NOT_FOUND\""), std::string::npos) << answer.body;
  EXPECT_EQ(get("List", {{"page_size", "1001"}}).status, 400);
  EXPECT_EQ(get("List", {{"size", "1"}}).status, 400);
}

TEST_F(HttpMethods, GivesTheReplyAsJson) {
  const v1::Experiment ran = daemon_.run(compare_request("a"));
  const HttpAnswer answer = get("Get", {{"include_samples", "true"}});
  ASSERT_EQ(answer.status, 200) << answer.body;
  v1::Experiment experiment;
  ASSERT_TRUE(google::protobuf::util::JsonStringToMessage(answer.body, &experiment).ok());
  EXPECT_EQ(experiment.experiment_id(), ran.experiment_id());
  EXPECT_EQ(experiment.state(), v1::DONE);
}

TEST_F(HttpMethods, AnswersEveryMethodOfTheTable) {
  for (const auto& [name, method] : read_methods()) {
    const HttpAnswer answer = get(name);
    EXPECT_NE(answer.status, 500) << name << ": " << answer.body;
    EXPECT_TRUE(answer.body.starts_with('{')) << name << ": " << answer.body;
  }
}

TEST_F(HttpMethods, JoinsThePiecesOfAStream) {
  const ReadMethod method = streamed<v1::ListTuningsRequest, v1::ListGoldensResponse>(
      [](const ReadBackend&, const v1::ListTuningsRequest& request, const auto& send) {
        v1::ListGoldensResponse piece;
        piece.add_goldens()->set_workload(request.operator_name());
        EXPECT_TRUE(send(piece));
        EXPECT_TRUE(send(piece));
        return absl::OkStatus();
      });
  EXPECT_EQ(method(backend(), {{"operator_name", "x"}}).body,
            R"({"goldens":[{"workload":"x"},{"workload":"x"}]})");
  EXPECT_EQ(method(backend(), {{"no", "x"}}).status, 400);
}

TEST_F(HttpMethods, RefusesMoreThanItsLimit) {
  const ReadMethod method = streamed<v1::ListTuningsRequest, v1::ListGoldensResponse>(
      [](const ReadBackend&, const v1::ListTuningsRequest&, const auto& send) {
        v1::ListGoldensResponse piece;
        piece.add_goldens()->set_workload(std::string(kMaxHttpMessageBytes / 2, 'x'));
        EXPECT_TRUE(send(piece));
        EXPECT_FALSE(send(piece));
        return absl::CancelledError("told to stop");
      });
  const HttpAnswer answer = method(backend(), {});
  EXPECT_EQ(answer.status, 429);
  EXPECT_NE(answer.body.find("67,108,864 bytes, the limit"), std::string::npos) << answer.body;
}

TEST_F(HttpMethods, HoldsTheAnswersOfQueriesToTheirPlaces) {
  std::vector<HttpAnswer> answers;
  for (int i = 0; i < kMaxQueries; ++i) {
    answers.push_back(get("Query", {{"sql", "SELECT 1 AS x, 'a'"}}));
    EXPECT_EQ(answers.back().body,
              R"({"columns":["x","'a'"],"rows":[{"values":[{"integer":"1"},{"text":"a"}]}]})");
  }
  EXPECT_EQ(get("Query", {{"sql", "SELECT 1"}}).status, 429);
  answers.pop_back();
  EXPECT_EQ(get("Query", {{"sql", "SELECT 1"}}).status, 200);
}

}  // namespace
}  // namespace assay::server
