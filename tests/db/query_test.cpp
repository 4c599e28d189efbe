// Queries of people: what they may read, what they may not, and where they end.
#include "db/query.h"

#include "db/connection.h"
#include "db/query_rows.h"
#include "db/query_rules.h"
#include "db/statement.h"
#include "tests/db/store_fixture.h"

#include "absl/strings/str_split.h"

#include <fstream>
#include <functional>
#include <limits>
#include <map>
#include <sys/resource.h>

namespace assay::db {
namespace {

struct Answer {
  absl::Status status;
  std::vector<std::string> columns;
  std::vector<v1::QueryRow> rows;
  std::string truncated;
  int num_chunks = 0;
  std::size_t most_bytes = 0;  // of a chunk
};

class QueryTest : public StoreTest {
 protected:
  QueryTest() : store_(open()) {}

  Answer ask(const v1::QueryRequest& request) const {
    Answer answer;
    answer.status = store_->query(
        request,
        {.has_left = [] { return false; },
         .write =
             [&answer](const v1::QueryChunk& chunk) {
               answer.columns.insert(
                   answer.columns.end(), chunk.columns().begin(), chunk.columns().end());
               answer.rows.insert(answer.rows.end(), chunk.rows().begin(), chunk.rows().end());
               answer.truncated = chunk.truncated();
               ++answer.num_chunks;
               answer.most_bytes = std::max(answer.most_bytes, chunk.ByteSizeLong());
               return true;
             }});
    return answer;
  }

  Answer ask(const std::string& sql, std::uint32_t max_rows = 0) const {
    v1::QueryRequest request;
    request.set_sql(sql);
    request.set_max_rows(max_rows);
    request.set_deadline_ns(kMaxQueryDeadlineNs);
    return ask(request);
  }

  // "INVALID_ARGUMENT: why".
  std::string error_of(const std::string& sql) const { return ask(sql).status.ToString(); }

  std::int64_t integer(const std::string& sql) const {
    const Answer answer = ask(sql);
    EXPECT_TRUE(answer.status.ok()) << answer.status;
    return answer.rows.size() == 1 ? answer.rows[0].values(0).integer() : -1;
  }

  std::unique_ptr<Store> store_;
};

// Of what is refused: the statement, and what its error has to say.
struct Refusal {
  std::string sql;
  std::string why;
};

void PrintTo(const Refusal& refusal, std::ostream* out) {
  *out << refusal.sql;
}

class RefusedQuery : public QueryTest, public testing::WithParamInterface<Refusal> {};

TEST_P(RefusedQuery, NamesWhatIsNotOffered) {
  running(*store_, 1);
  const Answer answer = ask(GetParam().sql);
  EXPECT_EQ(answer.status.code(), absl::StatusCode::kInvalidArgument) << answer.status;
  EXPECT_EQ(answer.status.message().substr(0, 5), "sql: ") << answer.status;
  EXPECT_NE(std::string(answer.status.message()).find(GetParam().why), std::string::npos)
      << answer.status;
  EXPECT_EQ(answer.num_chunks, 0);
  EXPECT_EQ(integer("SELECT count(*) FROM experiments"), 1);
}

INSTANTIATE_TEST_SUITE_P(
    Tables,
    RefusedQuery,
    testing::Values(
        Refusal{"SELECT * FROM t_experiment", "no such table: t_experiment; the views are"},
        Refusal{"SELECT count(*) FROM t_experiment", "no such table: t_experiment"},
        Refusal{"SELECT * FROM (SELECT * FROM t_experiment) AS experiments", "t_experiment"},
        Refusal{"WITH experiments AS (SELECT * FROM t_experiment) SELECT * FROM experiments",
                "t_experiment"},
        Refusal{"SELECT (SELECT data FROM t_blob) FROM experiments", "t_blob"},
        Refusal{"SELECT 1 WHERE EXISTS (SELECT 1 FROM main.t_blob)", "t_blob"},
        Refusal{"SELECT * FROM experiments JOIN t_label USING (experiment_id)", "t_label"},
        Refusal{"SELECT * FROM sqlite_schema", "is no view"},
        Refusal{"SELECT count(*) FROM sqlite_schema", "is no view"},
        Refusal{"SELECT sql FROM sqlite_master", "is no view"},
        Refusal{"SELECT * FROM sqlite_temp_schema", "is no view"},
        Refusal{"SELECT * FROM pragma_table_info('t_experiment')", "expected one SELECT"},
        Refusal{"SELECT count(*) FROM pragma_database_list", "expected one SELECT"},
        Refusal{"SELECT * FROM dbstat", "expected one SELECT"},
        Refusal{"SELECT count(*) FROM sqlite_stmt", "expected one SELECT"},
        Refusal{"SELECT * FROM nowhere", "no such table: nowhere; the views are"},
        Refusal{"SELECT nosuch FROM experiments", "no such column: nosuch"},
        Refusal{"SELECT \"queued\" FROM experiments", "no such column"}));

INSTANTIATE_TEST_SUITE_P(
    Statements,
    RefusedQuery,
    testing::Values(Refusal{"", "no statement"},
                    Refusal{" ; -- nothing\n", "no statement"},
                    Refusal{"SELEC 1", "syntax error"},
                    Refusal{"SELECT 1; SELECT 2", "more than one statement"},
                    Refusal{"SELECT 1; DELETE FROM experiments", "more than one statement"},
                    Refusal{"SELECT 1; no SQL", "more than one statement"},
                    Refusal{std::string("SELECT 1\0", 9), "NUL"},
                    Refusal{"SELECT '\xff'", "UTF-8"},
                    Refusal{"SELECT " + std::string(kMaxQueryBytes, ' ') + "1",
                            "the limit is 100,000"},
                    Refusal{"SELECT ?", "parameter"},
                    Refusal{"SELECT :name", "parameter"},
                    Refusal{"EXPLAIN SELECT 1", "expected one SELECT"},
                    Refusal{"EXPLAIN QUERY PLAN SELECT * FROM experiments", "expected one SELECT"},
                    Refusal{"ATTACH 'other.db' AS other", "expected one SELECT"},
                    Refusal{"DETACH main", "expected one SELECT"},
                    Refusal{"VACUUM", "expected one SELECT"},
                    Refusal{"VACUUM INTO 'copy.db'", "expected one SELECT"},
                    Refusal{"PRAGMA journal_mode = DELETE", "expected one SELECT"},
                    Refusal{"PRAGMA user_version", "expected one SELECT"},
                    Refusal{"DELETE FROM t_experiment", "t_experiment"},
                    Refusal{"DELETE FROM experiments", "it is a view"},
                    Refusal{"INSERT INTO experiments DEFAULT VALUES", "expected one SELECT"},
                    Refusal{"CREATE TABLE mine (x)", "expected one SELECT"},
                    Refusal{"CREATE TEMP TABLE mine AS SELECT 1", "expected one SELECT"},
                    Refusal{"CREATE VIRTUAL TABLE mine USING fts5(x)", "expected one SELECT"},
                    Refusal{"BEGIN", "expected one SELECT"},
                    Refusal{"ANALYZE", "expected one SELECT"},
                    Refusal{"REINDEX", "expected one SELECT"},
                    Refusal{"SELECT 1 UNION SELECT 1, 2", "same number of result columns"}));

INSTANTIATE_TEST_SUITE_P(
    Functions,
    RefusedQuery,
    testing::Values(Refusal{"SELECT load_extension('x')", "load_extension"},
                    Refusal{"SELECT writefile('x', 'y')", "writefile"},
                    Refusal{"SELECT readfile('x')", "readfile"},
                    Refusal{"SELECT randomblob(1e9)", "`randomblob` is not offered"},
                    Refusal{"SELECT length(zeroblob(1000000000))", "`zeroblob` is not offered"},
                    Refusal{"SELECT fts3_tokenizer('simple')", "`fts3_tokenizer` is not offered"},
                    Refusal{"SELECT sqlite_compileoption_get(1)", "is not offered"},
                    Refusal{"SELECT printf('%.*c', 500000000, 'x')", "`printf` is not offered"},
                    Refusal{"SELECT trim('x', 'y')", "`trim` is not offered"}));

// An expression that makes so much text of little.
std::string text_of(int num_bytes) {
  const std::string hundred(100, 'x');
  std::string text = "'" + hundred + "'";
  for (int have = 100; have < num_bytes; have *= 100) {
    text = "replace(" + text + ", 'x', '" + hundred + "')";
    text = have * 100 >= num_bytes ? "substr(" + text + ", 1, " + std::to_string(num_bytes) + ")"
                                   : text;
  }
  return text;
}

TEST_F(QueryTest, BoundsAValueAndARow) {
  for (const std::string& sql : {
           "SELECT hex(hex(hex(hex(hex(" + text_of(1'000'000) + ")))))",
           "SELECT replace(" + text_of(1'000'000) + ", 'x', " + text_of(99) + ")",
           "SELECT group_concat(" + text_of(1'000'000) + ") FROM (SELECT 1 FROM columns LIMIT 30)",
           "SELECT json_group_array(" + text_of(1'000'000) +
               ") FROM (SELECT 1 FROM columns LIMIT 30)",
           "SELECT " + text_of(999'999) + " || " + text_of(999'999) +
               " || x FROM (SELECT hex(hex(hex(" + text_of(1'990'000) + "))) AS x)",
       }) {
    const absl::Status status = ask(sql).status;
    EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << sql.substr(0, 40) << status;
    EXPECT_NE(std::string(status.message()).find("16,777,216 bytes"), std::string::npos) << status;
  }
  const absl::Status status = ask("SELECT " + text_of(999'999) + ", view, " + text_of(999'999) +
                                  " || 'x', hex(" + text_of(99'999) + ") FROM columns")
                                  .status;
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_NE(std::string(status.message()).find("row 1 has 2,200,"), std::string::npos) << status;
}

TEST_F(QueryTest, BoundsTheHeapOfAQueryAlone) {
  std::string doubling = "WITH n0 (x) AS (SELECT 1)";
  for (int i = 1; i <= 30; ++i) {
    const std::string before = std::to_string(i - 1);
    doubling += ", n" + std::to_string(i) + " (x) AS (SELECT a.x FROM n" + before + " a, n" +
                before + " b)";
  }
  for (const std::string& sql : {
           doubling + " SELECT count(*) FROM n30",
           "SELECT count(*) FROM (SELECT " + text_of(999'999) +
               " || a.view || a.position || b.view || b.position AS x"
               " FROM columns a, columns b ORDER BY x LIMIT 100000)",
       }) {
    const absl::Status status = ask(sql).status;
    EXPECT_EQ(status,
              absl::ResourceExhaustedError("sql: needs more memory than a query has: name,"
                                           " sort, group or join less"))
        << sql.substr(0, 40);
  }
  EXPECT_GT(running(*store_, 1), 0);
  EXPECT_EQ(integer("SELECT count(*) FROM experiments"), 1);
}

TEST_F(QueryTest, EndsAtItsDeadlineAndWithItsCaller) {
  const std::string endless =
      "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
  const std::string crossed =
      "SELECT count(*) FROM columns a, columns b, columns c, columns d, columns e";
  v1::QueryRequest request;
  request.set_deadline_ns(50'000'000);
  for (const std::string& sql : {endless, crossed}) {
    request.set_sql(sql);
    EXPECT_EQ(ask(request).status,
              absl::DeadlineExceededError("sql: was still running at its deadline of 50 ms"));
  }
  request.set_deadline_ns(kMaxQueryDeadlineNs);
  int num_asked = 0;
  const auto leave = [&num_asked] { return ++num_asked > 3; };
  EXPECT_EQ(
      store_->query(request, {.has_left = leave, .write = [](const auto&) { return true; }}).code(),
      absl::StatusCode::kCancelled);
  request.set_sql("SELECT view FROM columns");
  EXPECT_EQ(
      store_
          ->query(request,
                  {.has_left = [] { return false; }, .write = [](const auto&) { return false; }})
          .code(),
      absl::StatusCode::kCancelled);
}

// Within one row nothing but the functions can look at the deadline.
TEST_F(QueryTest, EndsWithinARow) {
  constexpr int kNumCalls = 20;
  const std::string text = "(SELECT replace(" + text_of(90'000) + ", 'x', 'y') AS x)";
  for (const std::string call : {"x LIKE '%yyy0'",
                                 "x LIKE '%yyy0' ESCAPE '!'",
                                 "x GLOB '*yyy0'",
                                 "instr(x, 'z')",
                                 "replace(x, 'z', '')"}) {
    // How often the query asks whether it is to end, and how it ends when it is told so.
    const auto run = [&](int num_calls, int num_stays) {
      v1::QueryRequest request;
      request.set_sql("SELECT " + call);
      for (int i = 1; i < num_calls; ++i) {
        request.mutable_sql()->append(", " + call);
      }
      request.mutable_sql()->append(" FROM " + text);
      int num_asked = 0;
      const absl::Status status =
          store_->query(request,
                        {.has_left = [&num_asked, num_stays] { return ++num_asked > num_stays; },
                         .write = [](const auto&) { return true; }});
      return std::pair(status.code(), num_asked);
    };
    const auto one = run(1, std::numeric_limits<int>::max());
    const auto many = run(1 + kNumCalls, std::numeric_limits<int>::max());
    EXPECT_EQ(one.first, absl::StatusCode::kOk) << call;
    EXPECT_GE(many.second, one.second + kNumCalls) << call;
    EXPECT_EQ(run(1 + kNumCalls, one.second + kNumCalls / 2).first, absl::StatusCode::kCancelled)
        << call;
  }
}

TEST_F(QueryTest, BoundsATextThatAPatternIsLookedForIn) {
  for (const std::string& sql :
       {"SELECT " + text_of(400'000) + " LIKE '%" + std::string(180, 'y') + "0'",
        "SELECT " + text_of(400'000) + " GLOB '*" + std::string(180, 'y') + "0'"}) {
    EXPECT_EQ(
        error_of(sql),
        "INVALID_ARGUMENT: sql: LIKE or GLOB: a text of 400,000 bytes is too long for a pattern"
        " of 182; their product may be 67,108,864");
  }
  EXPECT_EQ(integer("SELECT " + text_of(400'000) + " LIKE '%" + std::string(100, 'x') + "'"), 1);
  EXPECT_EQ(error_of("SELECT 'a' LIKE '" + std::string(201, 'a') + "'"),
            "INVALID_ARGUMENT: sql: a LIKE or GLOB pattern has at most 200 bytes");
  for (const std::string escape : {"", "%", "_", "ab", "ü"}) {
    EXPECT_EQ(error_of("SELECT 'a' LIKE 'a' ESCAPE '" + escape + "'"),
              "INVALID_ARGUMENT: sql: ESCAPE: expected one ASCII character, not % or _");
  }
}

TEST_F(QueryTest, OffersOnlyFunctionsThatAreThere) {
  const std::string refusal = error_of("SELECT randomblob(1)");
  constexpr std::string_view kBefore = "they are ";
  const std::size_t begin = refusal.find(kBefore);
  ASSERT_NE(begin, std::string::npos) << refusal;
  const std::vector<std::string> names =
      absl::StrSplit(refusal.substr(begin + kBefore.size()), ", ");
  EXPECT_GT(names.size(), 50U);
  const auto library = *Connection::open(path("other"), Connection::Mode::kWrite);
  for (const std::string& name : names) {
    EXPECT_GT(
        *library->integer("SELECT count(*) FROM pragma_function_list WHERE name = '" + name + "'"),
        0)
        << name;
  }
}

TEST_F(QueryTest, RefusesLimitsPastTheirEnds) {
  v1::QueryRequest request;
  request.set_sql("SELECT 1");
  request.set_max_rows(kMaxQueryRows + 1);
  EXPECT_EQ(ask(request).status, absl::InvalidArgumentError("max_rows: must be at most 1,000,000"));
  request.set_max_rows(0);
  for (const std::int64_t deadline_ns : {std::int64_t{-1}, kMaxQueryDeadlineNs + 1}) {
    request.set_deadline_ns(deadline_ns);
    EXPECT_EQ(ask(request).status,
              absl::InvalidArgumentError("deadline_ns: must be in [0, 60,000,000,000]"));
  }
}

TEST_F(QueryTest, KeepsEveryKindOfValueAsItIs) {
  const Answer answer = ask(
      "SELECT 9223372036854775807 AS \"the largest\", -9223372036854775808, 0.1, 9e999, NULL, '',"
      " 'a' || char(0) || 'ü', x'00ff', CAST(x'ff' AS TEXT), x''; -- and a remark");
  ASSERT_TRUE(answer.status.ok()) << answer.status;
  EXPECT_EQ(answer.columns[0], "the largest");
  ASSERT_EQ(answer.rows.size(), 1U);
  const auto& values = answer.rows[0].values();
  EXPECT_EQ(values[0].integer(), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(values[1].integer(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(values[2].real(), 0.1);
  EXPECT_EQ(values[3].real(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(values[4].value_case(), v1::QueryValue::VALUE_NOT_SET);
  EXPECT_EQ(values[5].value_case(), v1::QueryValue::kText);
  EXPECT_EQ(values[6].text(), std::string("a\0ü", 4));
  EXPECT_EQ(values[7].blob(), std::string("\0\xff", 2));
  EXPECT_EQ(values[8].blob(), "\xff");
  EXPECT_EQ(values[9].value_case(), v1::QueryValue::kBlob);
}

TEST_F(QueryTest, CutsAtARowOrAByteAndSaysWhich) {
  Answer answer = ask("SELECT view FROM columns", 3);
  EXPECT_EQ(answer.rows.size(), 3U);
  EXPECT_EQ(answer.truncated, "3 rows");
  answer = ask("SELECT view FROM columns LIMIT 3", 3);
  EXPECT_EQ(answer.rows.size(), 3U);
  EXPECT_EQ(answer.truncated, "");
  answer = ask("SELECT view FROM columns WHERE 0");
  EXPECT_TRUE(answer.status.ok()) << answer.status;
  EXPECT_EQ(answer.columns, std::vector<std::string>({"view"}));
  const std::string numbers =
      "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)";
  answer = ask(numbers + " SELECT " + text_of(1'000'000) + " FROM n");
  EXPECT_TRUE(answer.status.ok()) << answer.status;
  EXPECT_EQ(answer.rows.size(), 67U);
  EXPECT_EQ(answer.truncated, "67,108,864 bytes");
  EXPECT_EQ(answer.num_chunks, 68);
  EXPECT_LT(answer.most_bytes, kMaxQueryRowBytes + kQueryChunkBytes);
}

TEST_F(QueryTest, ReadsEveryViewByAnyOfItsNames) {
  const std::int64_t id = running(*store_, 1);
  ASSERT_TRUE(store_->add_configuration(id, full_configuration(1)).ok());
  const Answer views = ask("SELECT DISTINCT view FROM columns");
  ASSERT_GE(views.rows.size(), 13U);
  for (const v1::QueryRow& row : views.rows) {
    const std::string& view = row.values(0).text();
    const Answer answer = ask("SELECT * FROM " + view);
    EXPECT_TRUE(answer.status.ok()) << view << ": " << answer.status;
    EXPECT_TRUE(ask("SELECT count(*) FROM main.\"" + view + "\" x").status.ok()) << view;
  }
  EXPECT_EQ(integer("SELECT count(*) FROM EXPERIMENTS e JOIN Samples s USING (Experiment_Id)"
                    " WHERE e.state = 'RUNNING'"),
            integer("SELECT count(*) FROM samples"));
  EXPECT_EQ(integer("WITH mine AS (SELECT * FROM experiments) SELECT count(*) FROM mine"), 1);
  EXPECT_EQ(integer("SELECT j.value FROM json_each('[7]') j"), 7);
  EXPECT_EQ(integer("SELECT count(*) FROM json_tree('[7]')"), 2);
  EXPECT_EQ(integer("VALUES (3)"), 3);
  EXPECT_EQ(integer("SELECT 3; ; -- and no more"), 3);
}

TEST_F(QueryTest, ComputesTheFunctionsOfItsOwnAsTheLibraryDoes) {
  const auto library = *Connection::open(path("other"), Connection::Mode::kWrite);
  for (const std::string expression : {"instr('xüyz', 'yz')",
                                       "instr('', '')",
                                       "instr('a', '')",
                                       "instr('', 'a')",
                                       "instr(NULL, 'a')",
                                       "instr('a', NULL)",
                                       "instr(x'c3bc79', x'79')",
                                       "instr('üy', x'79')",
                                       "instr(12345, 34)",
                                       "instr('ab', 'abc')",
                                       "replace('abab', 'b', 'xy')",
                                       "replace('aaa', 'aa', 'b')",
                                       "replace('abc', '', 'x')",
                                       "replace('', 'a', 'b')",
                                       "replace(NULL, 'a', 'b')",
                                       "replace('a', 'a', '')",
                                       "replace(121, 1, 3)",
                                       "replace('a', NULL, 'b')",
                                       "'abc' LIKE 'A_C'",
                                       "'aüc' LIKE 'a_c'",
                                       "'AÜ' LIKE 'aü'",
                                       "'a%c' LIKE 'a\\%c' ESCAPE '\\'",
                                       "'abc' LIKE 'a\\%c' ESCAPE '\\'",
                                       "'abc' NOT LIKE '%d%'",
                                       "'' LIKE '%'",
                                       "'' LIKE ''",
                                       "12 LIKE '1%'",
                                       "x'6162' LIKE 'AB'",
                                       "x'' LIKE ''",
                                       "NULL LIKE 'a'",
                                       "'a' LIKE NULL",
                                       "'a' LIKE 'a' ESCAPE NULL",
                                       "'abc' GLOB 'a[a-c]*'",
                                       "'abc' GLOB 'A*'",
                                       "'abc' GLOB '?[^b]?'",
                                       "x'' GLOB ''",
                                       "NULL GLOB 'a'"}) {
    const std::string sql = "SELECT quote(" + expression + ")";
    auto expected = library->prepare(sql);
    ASSERT_TRUE(*expected->step());
    const Answer answer = ask(sql);
    ASSERT_TRUE(answer.status.ok()) << answer.status;
    EXPECT_EQ(answer.rows[0].values(0).text(), expected->text(0)) << expression;
  }
}

TEST_F(QueryTest, SeesOneStateAndHoldsUpNoWriter) {
  running(*store_, 1);
  std::int64_t num_seen = 0;
  v1::QueryRequest request;
  request.set_sql("SELECT e.experiment_id, " + text_of(300'000) + " FROM experiments e, columns");
  int num_written = 0;
  const absl::Status status =
      store_->query(request,
                    {.has_left = [] { return false; },
                     .write =
                         [&](const v1::QueryChunk& chunk) {
                           // A chunk is on its way, and the query is not at its end.
                           if (++num_written == 1) {
                             EXPECT_GT(running(*store_, 1), 0);
                           }
                           for (const v1::QueryRow& row : chunk.rows()) {
                             num_seen = std::max(num_seen, row.values(0).integer());
                           }
                           return true;
                         }});
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_GT(num_written, 1);
  EXPECT_EQ(num_seen, 1);
  // Nothing keeps the log from being emptied once the query has ended.
  const auto connection = *Connection::open(path(), Connection::Mode::kWrite);
  EXPECT_EQ(*connection->integer("PRAGMA wal_checkpoint(TRUNCATE)"), 0);
  EXPECT_EQ(std::filesystem::file_size(path() + "-wal"), 0U);
}

TEST_F(QueryTest, DocumentsEveryColumnOfEveryView) {
  const auto connection = *Connection::open(path(), Connection::Mode::kRead);
  std::map<std::string, std::string> found;
  auto rows = connection->prepare(
      "SELECT s.name, c.name FROM sqlite_schema s, pragma_table_info(s.name) c"
      " WHERE s.type = 'view' ORDER BY s.name, c.cid");
  while (*rows->step()) {
    found[std::string(rows->text(0))] += std::string(rows->text(1)) + " ";
  }
  std::map<std::string, std::string> documented;
  std::string page;
  for (const v1::QueryRow& row :
       ask("SELECT view, name, meaning FROM columns ORDER BY view, position").rows) {
    const std::string& view = row.values(0).text();
    documented[view] += row.values(1).text().empty() ? "" : row.values(1).text() + " ";
    // As docs/database.md shows them.
    page += row.values(1).text().empty()
                ? "### `" + view + "`\n\n" + row.values(2).text() + "\n"
                : "| `" + row.values(1).text() + "` | " + row.values(2).text() + " |\n";
  }
  EXPECT_EQ(documented, found);
  std::ifstream in(std::string(ASSAY_DOCS) + "/database.md");
  ASSERT_TRUE(in.good());
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  std::string shown;
  std::istringstream lines(text.substr(std::min(text.size(), text.find("\n### `"))));
  for (std::string line; std::getline(lines, line) && !line.starts_with("## ");) {
    shown +=
        line.empty() || line.starts_with("| column") || line.starts_with("|---") ? "" : line + "\n";
    shown += line.starts_with("### ") ? "\n" : "";
  }
  EXPECT_EQ(shown, page);
}

// What the pages tell people to ask can be asked.
TEST_F(QueryTest, AnswersTheExamplesOfTheGuide) {
  const std::int64_t id = running(*store_, 1);
  ASSERT_TRUE(store_->add_configuration(id, full_configuration(1)).ok());
  for (const std::string name : {"database.md", "queries.md"}) {
    std::ifstream in(std::string(ASSAY_DOCS) + "/" + name);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    constexpr char kBegin[] = "```sql\n";
    int num_asked = 0;
    for (std::size_t at = text.find(kBegin); at != std::string::npos; at = text.find(kBegin, at)) {
      at += sizeof(kBegin) - 1;
      const std::string sql = text.substr(at, text.find("```", at) - at);
      const Answer answer = ask(sql);
      EXPECT_TRUE(answer.status.ok()) << name << answer.status << "\n" << sql;
      ++num_asked;
    }
    EXPECT_GE(num_asked, 5) << name;
  }
}

}  // namespace
}  // namespace assay::db
