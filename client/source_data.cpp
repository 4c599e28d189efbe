#include "client/source_data.h"

#include "client/npy.h"
#include "proto/status.h"
#include "proto/text.h"
#include "tuning/content_digest.h"
#include "tuning/source_sizes.h"
#include "tuning/source_type.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

#include <cstdint>
#include <utility>

namespace assay::client {
namespace {

using Shape = std::vector<std::int64_t>;

absl::Status refuse(const std::string& field, const std::string& why) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": ", why));
}

std::string shape_text(const Shape& shape) {
  return absl::StrCat("[", absl::StrJoin(shape, ", "), "]");
}

tuning::SourceSettings default_axes(const v1::SourceSpec& spec) {
  tuning::SourceSettings axes;
  for (const v1::SourceAxis& axis : spec.axes()) {
    v1::Setting& setting = *axes.Add();
    setting.set_name(axis.name());
    setting.set_value(absl::StrCat(axis.default_value()));
  }
  return axes;
}

// Type and shape of a .npy are the tensor's; of a raw file only the size can be told.
class DataReader {
 public:
  DataReader(SourceBundle& bundle, const SourceFolder& folder, std::vector<Shape> shapes)
      : bundle_(bundle), folder_(folder), shapes_(std::move(shapes)) {}

  absl::Status read() {
    for (int i = 0; i < bundle_.spec.tensors_size(); ++i) {
      v1::SourceTensor& tensor = *bundle_.spec.mutable_tensors(i);
      const Shape& shape = shapes_[static_cast<std::size_t>(i)];
      const std::string field = absl::StrCat("source.tensors[", i, "]");
      if (tensor.has_fill()) {
        v1::SourceFill& fill = *tensor.mutable_fill();
        std::string dtype = tensor.dtype();
        ASSAY_RETURN_IF_ERROR(
            read_one(field + ".fill", fill.file(), shape, dtype, *fill.mutable_digest()));
      }
      if (tensor.has_reference()) {
        v1::SourceReference& reference = *tensor.mutable_reference();
        ASSAY_RETURN_IF_ERROR(read_one(field + ".reference",
                                       reference.file(),
                                       shape,
                                       *reference.mutable_dtype(),
                                       *reference.mutable_digest()));
      }
    }
    return absl::OkStatus();
  }

 private:
  absl::Status read_one(const std::string& field,
                        const std::string& file,
                        const Shape& shape,
                        std::string& dtype,
                        std::string& digest) {
    if (file.empty()) {
      return absl::OkStatus();
    }
    if (!digest.empty()) {
      return refuse(field + ".digest", "is taken of the file; leave it out");
    }
    absl::StatusOr<std::string> bytes = folder_.read(file, kMaxSourceDataBytes);
    if (!bytes.ok()) {
      return proto::annotate({bytes.status().code(),
                              absl::StrCat("data source ", std::string(bytes.status().message()))},
                             field + ".file");
    }
    if (is_npy(*bytes)) {
      ASSAY_RETURN_IF_ERROR(take_npy(field, file, shape, dtype, *bytes));
    } else {
      ASSAY_RETURN_IF_ERROR(check_raw(field, file, shape, dtype, *bytes));
    }
    ASSAY_ASSIGN_OR_RETURN(digest, keep_source_data(bundle_, *std::move(bytes)));
    return absl::OkStatus();
  }

  static absl::Status take_npy(const std::string& field,
                               const std::string& file,
                               const Shape& shape,
                               std::string& dtype,
                               std::string& bytes) {
    const absl::StatusOr<NpyArray> array = parse_npy(bytes);
    if (!array.ok()) {
      return proto::annotate(array.status(), absl::StrCat(field, ".file: ", file));
    }
    // The bits of bf16 have no name there; two bytes an element are saved as any such type.
    if (!dtype.empty() && array->dtype != dtype) {
      return refuse(field + ".file",
                    absl::StrCat(file, " has elements of ", array->dtype, ", expected ", dtype));
    }
    if (array->shape != shape) {
      return refuse(field + ".file",
                    absl::StrCat(file,
                                 " has the shape ",
                                 shape_text(array->shape),
                                 ", the tensor ",
                                 shape_text(shape)));
    }
    dtype = array->dtype;
    bytes.erase(0, array->data_offset);
    return absl::OkStatus();
  }

  static absl::Status check_raw(const std::string& field,
                                const std::string& file,
                                const Shape& shape,
                                const std::string& dtype,
                                const std::string& bytes) {
    std::int64_t wanted = tuning::source_type_bytes(dtype);
    if (wanted == 0) {
      return refuse(field + ".dtype", "is needed for a raw file: f32 or f64");
    }
    for (const std::int64_t extent : shape) {
      wanted *= extent;
    }
    const auto found = static_cast<std::int64_t>(bytes.size());
    return found == wanted ? absl::OkStatus()
                           : refuse(field + ".file",
                                    absl::StrCat(file,
                                                 " has ",
                                                 proto::with_commas(found),
                                                 " bytes, the tensor's ",
                                                 dtype,
                                                 " ",
                                                 shape_text(shape),
                                                 " need ",
                                                 proto::with_commas(wanted)));
  }

  SourceBundle& bundle_;
  const SourceFolder& folder_;
  const std::vector<Shape> shapes_;
};

bool has_files(const v1::SourceSpec& spec) {
  for (const v1::SourceTensor& tensor : spec.tensors()) {
    if (!tensor.fill().file().empty() || !tensor.reference().file().empty()) {
      return true;
    }
  }
  return false;
}

}  // namespace

absl::StatusOr<std::string> keep_source_data(SourceBundle& bundle, std::string bytes) {
  std::string digest = tuning::content_digest(bytes);
  std::size_t total = bundle.data.contains(digest) ? 0 : bytes.size();
  for (const auto& [name, kept] : bundle.data) {
    total += kept.size();
  }
  if (total > kMaxSourceDataBytes) {
    return absl::ResourceExhaustedError(
        absl::StrCat("source.tensors: ",
                     proto::with_commas(static_cast<std::int64_t>(total)),
                     " bytes of data in all, the limit is ",
                     proto::with_commas(kMaxSourceDataBytes)));
  }
  bundle.data.emplace(digest, std::move(bytes));
  return digest;
}

absl::Status read_source_data(SourceBundle& bundle, const SourceFolder& folder) {
  if (!has_files(bundle.spec)) {
    return absl::OkStatus();
  }
  ASSAY_ASSIGN_OR_RETURN(std::vector<Shape> shapes,
                         tuning::source_shapes(bundle.spec, default_axes(bundle.spec)));
  return DataReader(bundle, folder, std::move(shapes)).read();
}

}  // namespace assay::client
