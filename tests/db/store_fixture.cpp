#include "tests/db/store_fixture.h"

#include "db/connection.h"
#include "db/statement.h"

#include <limits>
#include <stdlib.h>

namespace assay::db {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

constexpr std::int64_t kLarge = 9'007'199'254'740'993;  // no double holds it

void fill_field(Message& message, const FieldDescriptor* field, int& counter) {
  const Reflection& reflection = *message.GetReflection();
  const bool repeated = field->is_repeated();
  const int n = ++counter;
  switch (field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT64:
      repeated ? reflection.AddInt64(&message, field, -kLarge - n)
               : reflection.SetInt64(&message, field, kLarge + n);
      break;
    case FieldDescriptor::CPPTYPE_UINT64: {
      const std::uint64_t value = std::numeric_limits<std::uint64_t>::max() - 7;
      repeated ? reflection.AddUInt64(&message, field, value)
               : reflection.SetUInt64(&message, field, value);
      break;
    }
    case FieldDescriptor::CPPTYPE_UINT32: {
      const std::uint32_t value = 4'000'000'000U + static_cast<std::uint32_t>(n);
      repeated ? reflection.AddUInt32(&message, field, value)
               : reflection.SetUInt32(&message, field, value);
      break;
    }
    case FieldDescriptor::CPPTYPE_DOUBLE:
      reflection.SetDouble(&message, field, 0.1 + n / 3.0);
      break;
    case FieldDescriptor::CPPTYPE_BOOL:
      reflection.SetBool(&message, field, true);
      break;
    case FieldDescriptor::CPPTYPE_ENUM:
      reflection.SetEnumValue(&message, field, field->enum_type()->value_count() - 1);
      break;
    case FieldDescriptor::CPPTYPE_STRING: {
      const std::string value = field->name() + " \"\\\t\x01 ü€𝄞 " + std::to_string(n);
      repeated ? reflection.AddString(&message, field, value)
               : reflection.SetString(&message, field, value);
      break;
    }
    case FieldDescriptor::CPPTYPE_MESSAGE:
      fill(repeated ? *reflection.AddMessage(&message, field)
                    : *reflection.MutableMessage(&message, field));
      break;
    default:
      ADD_FAILURE() << field->full_name() << ": no filler for its type";
  }
}

}  // namespace

StoreTest::StoreTest() {
  std::string name = (std::filesystem::temp_directory_path() / "assay_db_XXXXXX").string();
  directory_ = ::mkdtemp(name.data());
}

StoreTest::~StoreTest() {
  std::error_code ignored;
  std::filesystem::remove_all(directory_, ignored);
}

std::unique_ptr<Store> StoreTest::open() const {
  StoreOptions options;
  options.path = path();
  auto store = Store::open(options);
  EXPECT_TRUE(store.ok()) << store.status();
  return store.ok() ? *std::move(store) : nullptr;
}

std::int64_t StoreTest::running(Store& store, std::uint32_t num_configurations) const {
  static int counter = 0;
  const auto experiment =
      store.submit(request("running " + std::to_string(++counter)), num_configurations, 1);
  EXPECT_TRUE(experiment.ok()) << experiment.status();
  v1::Device device;
  device.set_name("cpu");
  EXPECT_TRUE(store.start(experiment->experiment_id(), device, 2).ok());
  return experiment->experiment_id();
}

std::string StoreTest::query(const std::string& sql) const {
  const auto connection = Connection::open(path(), Connection::Mode::kRead);
  EXPECT_TRUE(connection.ok()) << connection.status();
  auto statement = (*connection)->prepare(sql);
  EXPECT_TRUE(statement.ok()) << statement.status();
  const auto has_row = statement->step();
  EXPECT_TRUE(has_row.ok()) << has_row.status();
  return has_row.ok() && *has_row ? std::string(statement->text(0)) : "no row";
}

void fill(Message& message) {
  int counter = 0;
  for (int i = 0; i < message.GetDescriptor()->field_count(); ++i) {
    const FieldDescriptor* const field = message.GetDescriptor()->field(i);
    fill_field(message, field, counter);
    if (field->is_repeated()) {
      fill_field(message, field, counter);
    }
  }
}

v1::Configuration full_configuration(std::uint32_t number) {
  v1::Configuration configuration;
  fill(configuration);
  configuration.set_configuration(number);
  configuration.set_outcome(v1::FINISHED);
  configuration.clear_ceilings();  // of a BENCH alone
  return configuration;
}

v1::SubmitRequest request(const std::string& id, const std::string& operator_name) {
  v1::SubmitRequest submit;
  submit.set_request_id(id);
  submit.mutable_spec()->set_kind(v1::COMPARE);
  submit.mutable_spec()->set_operator_name(operator_name);
  submit.mutable_spec()->set_device("cpu");
  submit.mutable_spec()->mutable_baseline()->set_variant("one_cell");
  return submit;
}

v1::Golden golden(const std::string& workload, const std::string& digest) {
  v1::Golden golden;
  golden.set_operator_name("qsa_decode");
  golden.set_workload(workload);
  golden.set_tensor("out");
  golden.set_family("baseline");
  golden.set_domain("any_device");
  golden.set_digest(digest);
  golden.set_reason("first bits");
  golden.set_experiment_id(7);
  return golden;
}

}  // namespace assay::db
