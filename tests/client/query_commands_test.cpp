#include "tests/client/commands_fixture.h"
#include "tests/temporary_folder.h"

#include <limits>

namespace assay::client {
namespace {

class QueryCommands : public Commands {
 protected:
  // Two chunks: one value of every kind, then a row of ordinary ones.
  void SetUp() override {
    Commands::SetUp();
    v1::QueryChunk& first = service_.query_chunks.emplace_back();
    for (const char* name : {"n", "x", "text", "bytes", "none"}) {
      first.add_columns(name);
    }
    v1::QueryRow& row = *first.add_rows();
    row.add_values()->set_integer(std::numeric_limits<std::int64_t>::min());
    row.add_values()->set_real(0.1);
    row.add_values()->set_text("a \"b\",\nü");
    row.add_values()->set_blob(std::string("\0\xff", 2));
    row.add_values();
    v1::QueryRow& other = *service_.query_chunks.emplace_back().add_rows();
    other.add_values()->set_integer(7);
    other.add_values()->set_real(std::numeric_limits<double>::infinity());
    other.add_values()->set_text("");
    other.add_values()->set_blob("");
    other.add_values()->set_real(3);
  }
};

TEST_F(QueryCommands, WriteEveryKindOfValueInEveryForm) {
  ASSERT_EQ(run_with({"query", "SELECT 1", "--format", "csv"}), 0) << err();
  EXPECT_EQ(out(),
            "n,x,text,bytes,none\n"
            "-9223372036854775808,0.1,\"a \"\"b\"\",\nü\",00ff,\n"
            "7,Infinity,\"\",,3.0\n");
  EXPECT_EQ(err(), "");
  ASSERT_EQ(run_with({"query", "SELECT 1", "--format", "json"}), 0) << err();
  EXPECT_EQ(out(),
            "[\n"
            R"({"n":-9223372036854775808,"x":0.1,"text":"a \"b\",\nü","bytes":"00ff","none":null},)"
            "\n"
            R"({"n":7,"x":"Infinity","text":"","bytes":"","none":3.0})"
            "\n]\n");
  ASSERT_EQ(run_with({"query", "SELECT 1"}), 0) << err();
  EXPECT_EQ(out(),
            "                   n         x  text      bytes  none\n"
            "-9223372036854775808       0.1  a \"b\", ü  00ff   -\n"
            "                   7  Infinity                   3.0\n");
  ASSERT_EQ(run_with({"query", "SELECT 1", "--format", "markdown"}), 0) << err();
  EXPECT_TRUE(out().starts_with("|                    n |")) << out();
}

TEST_F(QueryCommands, WriteNothingAsWhatItIs) {
  service_.query_chunks.resize(1);
  service_.query_chunks[0].clear_rows();
  ASSERT_EQ(run_with({"query", "SELECT 1", "--format", "json"}), 0) << err();
  EXPECT_EQ(out(), "[]\n");
  ASSERT_EQ(run_with({"query", "SELECT 1", "--format", "csv"}), 0) << err();
  EXPECT_EQ(out(), "n,x,text,bytes,none\n");
}

TEST_F(QueryCommands, TellWhereAResultWasCut) {
  service_.query_chunks[1].set_truncated("2 rows");
  EXPECT_EQ(run_with({"query", "SELECT 1", "--limit", "2", "--deadline", "30s"}), 0) << err();
  EXPECT_EQ(err(), "cut at the limit of 2 rows; 2 rows shown (see --limit)\n");
  EXPECT_EQ(service_.queried.max_rows(), 2U);
  EXPECT_EQ(service_.queried.deadline_ns(), 30'000'000'000);
}

TEST_F(QueryCommands, TakeTheStatementFromAnArgumentAFileOrStandardInput) {
  EXPECT_EQ(run_with({"query", "SELECT 3"}), 0) << err();
  EXPECT_EQ(service_.queried.sql(), "SELECT 3");
  const Folder folder;
  std::ofstream(folder / "a.sql") << "SELECT 4 -- of a file\n";
  EXPECT_EQ(run_with({"query", "--file", folder / "a.sql"}), 0) << err();
  EXPECT_EQ(service_.queried.sql(), "SELECT 4 -- of a file\n");
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"query", "-"}, {"query", "--file", "-"}}) {
    in_ = std::istringstream("SELECT 5\n");
    EXPECT_EQ(run_with(arguments), 0) << err();
    EXPECT_EQ(service_.queried.sql(), "SELECT 5\n");
  }
  EXPECT_EQ(run_with({"query", "--views"}), 0) << err();
  EXPECT_EQ(service_.queried.sql(),
            "SELECT view, name AS \"column\", meaning FROM columns ORDER BY view, position");
  for (const std::vector<std::string>& arguments : {std::vector<std::string>{"query"},
                                                    {"query", "SELECT 1", "--views"},
                                                    {"query", "--views", "--file", "x"}}) {
    EXPECT_EQ(run_with(arguments), 2);
    EXPECT_TRUE(said("expected one of a SELECT, --file and --views")) << err();
  }
  EXPECT_EQ(run_with({"query", "--file", folder / "none.sql"}), 2);
  EXPECT_TRUE(said("NOT_FOUND: --file: ")) << err();
}

TEST_F(QueryCommands, TellWhatTheDaemonRefuses) {
  service_.next_status = grpc::Status(grpc::StatusCode::INVALID_ARGUMENT, "sql: syntax error");
  EXPECT_EQ(run_with({"query", "SELEC"}), 2);
  EXPECT_EQ(err(), "assay: INVALID_ARGUMENT: sql: syntax error\n");
  service_.next_status = grpc::Status(grpc::StatusCode::DEADLINE_EXCEEDED, "sql: was running");
  EXPECT_EQ(run_with({"query", "SELECT 1"}), 1);
}

}  // namespace
}  // namespace assay::client
