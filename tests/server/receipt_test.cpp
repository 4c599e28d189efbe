#include "server/receipt.h"

#include "tests/server/fixture.h"

namespace assay::server {
namespace {

class Receipts : public testing::Test {
 protected:
  static v1::ReceiptRequest request_of(std::initializer_list<std::int64_t> ids) {
    v1::ReceiptRequest request;
    for (const std::int64_t id : ids) {
      request.add_experiment_ids(id);
    }
    return request;
  }

  v1::ReceiptResponse make(const v1::ReceiptRequest& request) {
    const auto response = make_receipt(daemon_.store(), request);
    EXPECT_TRUE(response.ok()) << response.status();
    return response.ok() ? *response : v1::ReceiptResponse();
  }

  absl::Status refusal(const v1::ReceiptRequest& request) {
    return make_receipt(daemon_.store(), request).status();
  }

  absl::StatusOr<v1::VerifyReceiptResponse> verify(const v1::Receipt& receipt) {
    v1::VerifyReceiptRequest request;
    *request.mutable_receipt() = receipt;
    return verify_receipt(daemon_.store(), request);
  }

  absl::StatusOr<v1::VerifyReceiptResponse> verify(const std::string& markdown) {
    v1::VerifyReceiptRequest request;
    request.set_markdown(markdown);
    return verify_receipt(daemon_.store(), request);
  }

  Daemon daemon_;
};

TEST_F(Receipts, NameTheWrongField) {
  EXPECT_EQ(refusal({}).message(), "experiment_ids: must be 1 to 100");
  EXPECT_EQ(refusal(request_of({0, -1})).message(), "experiment_ids[1]: must not be negative");
  EXPECT_EQ(refusal(request_of({5})).code(), absl::StatusCode::kNotFound);
  v1::ReceiptRequest request = request_of({1});
  request.set_judged_until_ns(-1);
  EXPECT_EQ(refusal(request).message(), "judged_until_ns: must not be negative");
  daemon_.run(compare_request("a"));
  EXPECT_EQ(refusal(request_of({1, 0})).message(), "experiment_ids[1]: 1 is there twice");
  EXPECT_EQ(verify_receipt(daemon_.store(), {}).status().message(),
            "receipt, markdown: exactly one of them must be set");
  EXPECT_EQ(verify("hello").status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(Receipts, AreOfExperimentsThatHaveEnded) {
  ASSERT_TRUE(daemon_.store().submit(compare_request("waits"), 1, 1).ok());
  EXPECT_EQ(refusal(request_of({1})).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(refusal(request_of({1})).message(),
            "experiment 1 is QUEUED: its receipt is made when it ends");
}

TEST_F(Receipts, AreTheSameBytesAgainAndVerify) {
  daemon_.run(compare_request("a"));
  daemon_.run(compare_request("b"));
  const v1::ReceiptResponse first = make(request_of({2, 1}));
  EXPECT_GT(first.receipt().judged_until_ns(), 0);
  EXPECT_EQ(first.receipt().digest(), digest_of(first.receipt()));
  EXPECT_EQ(make(request_of({2, 1})).SerializeAsString(), first.SerializeAsString());
  EXPECT_NE(make(request_of({1, 2})).receipt().digest(), first.receipt().digest());
  for (const auto& verified : {verify(first.receipt()), verify(first.markdown())}) {
    ASSERT_TRUE(verified.ok()) << verified.status();
    EXPECT_TRUE(verified->matches()) << verified->difference();
    EXPECT_EQ(verified->experiment_ids(0), 2);
    EXPECT_EQ(verified->experiment_ids(1), 1);
  }
}

TEST_F(Receipts, AreTheSameInADatabaseWithOtherNumbers) {
  Daemon other;
  const v1::SubmitRequest request = compare_request("the same");
  const v1::Experiment experiment = daemon_.run(request);
  other.run(compare_request("before"));
  ASSERT_TRUE(other.store().submit(request, 1, experiment.submitted_ns()).ok());
  ASSERT_TRUE(other.store().start(2, experiment.device(), experiment.started_ns()).ok());
  v1::GetRequest get;
  get.set_include_samples(true);
  ASSERT_TRUE(other.store().add_configuration(2, daemon_.store().get(get)->configurations(0)).ok());
  ASSERT_TRUE(other.store().finish(2, v1::DONE, "", experiment.finished_ns()).ok());
  const v1::ReceiptResponse here = make(request_of({1}));
  const auto there = make_receipt(other.store(), request_of({2}));
  ASSERT_TRUE(there.ok()) << there.status();
  EXPECT_EQ(there->markdown(), here.markdown());
  EXPECT_EQ(there->SerializeAsString(), here.SerializeAsString());
}

TEST_F(Receipts, OfAMomentStayWhenVerdictsAreAdded) {
  daemon_.run(compare_request("a"));
  const v1::ReceiptResponse before = make(request_of({1}));
  v1::Verdict later = daemon_.store().get({})->configurations(0).verdicts(0);
  later.set_verdict(v1::UNDECIDED);
  later.set_judged_ns(before.receipt().judged_until_ns() + 1);
  ASSERT_TRUE(daemon_.store().add_verdict(1, 1, later).ok());
  const v1::ReceiptResponse after = make(request_of({1}));
  EXPECT_NE(after.markdown(), before.markdown());
  EXPECT_EQ(after.receipt().judged_until_ns(), later.judged_ns());
  v1::ReceiptRequest again = request_of({1});
  again.set_judged_until_ns(before.receipt().judged_until_ns());
  EXPECT_EQ(make(again).SerializeAsString(), before.SerializeAsString());
  EXPECT_TRUE(verify(before.markdown())->matches());
  EXPECT_TRUE(verify(before.receipt())->matches());
  // Of a moment before any verdict: none, and that is what can be made again.
  again.set_judged_until_ns(1);
  const v1::ReceiptResponse none = make(again);
  EXPECT_EQ(none.receipt().judged_until_ns(), 1);
  EXPECT_FALSE(none.receipt().experiments(0).rows(0).has_verdict());
  EXPECT_TRUE(verify(none.markdown())->matches());
}

TEST_F(Receipts, DoNotVerifyWhenANumberIsChanged) {
  daemon_.run(compare_request("a"));
  const v1::ReceiptResponse response = make(request_of({1}));
  v1::Receipt receipt = response.receipt();
  v1::StageVerdict& stage =
      *receipt.mutable_experiments(0)->mutable_rows(0)->mutable_verdict()->mutable_stages(0);
  stage.set_candidate_median_ns(stage.candidate_median_ns() - 1);
  // Also when its digest was made to fit.
  receipt.set_digest(digest_of(receipt));
  const auto verified = verify(receipt);
  ASSERT_TRUE(verified.ok()) << verified.status();
  EXPECT_FALSE(verified->matches());
  EXPECT_TRUE(verified->difference().starts_with(
      "experiments[0].rows[0].verdict.stages[0].candidate_median_ns: the receipt says "))
      << verified->difference();
  std::string text = response.markdown();
  const std::size_t seed = text.find("- seed: ") + 8;
  text[seed] = text[seed] == '0' ? '1' : '0';
  EXPECT_FALSE(verify(text)->matches());
  EXPECT_TRUE(verify(text)->difference().starts_with("line ")) << verify(text)->difference();
}

TEST_F(Receipts, OfExperimentsThatAreNotHereAreNotFound) {
  Daemon other;
  other.run(compare_request("elsewhere"));
  const auto response = make_receipt(other.store(), request_of({1}));
  ASSERT_TRUE(response.ok());
  EXPECT_EQ(verify(response->receipt()).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(verify(response->markdown()).status().code(), absl::StatusCode::kNotFound);
  // One that does not fit its digest needs no database.
  v1::Receipt receipt = response->receipt();
  receipt.mutable_experiments(0)->set_operator_name("other");
  const auto changed = verify(receipt);
  ASSERT_TRUE(changed.ok()) << changed.status();
  EXPECT_FALSE(changed->matches());
  EXPECT_TRUE(changed->difference().starts_with("digest: the receipt was changed, it names "));
}

}  // namespace
}  // namespace assay::server
