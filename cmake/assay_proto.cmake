# Messages (assay_proto) and the service (assay_rpc): the runner needs only the first.
# Included from the top, so that the repository is the import root and includes read "proto/assay.pb.h".
set(assay_generated ${PROJECT_BINARY_DIR}/generated)
file(MAKE_DIRECTORY ${assay_generated})
set(assay_protos proto/assay.proto proto/runner.proto proto/compiler.proto proto/config.proto)

add_library(
  assay_proto STATIC
  proto/bits_text.cpp
  proto/golden_text.cpp
  proto/numbers.cpp
  proto/settings.cpp
  proto/status.cpp
  proto/text.cpp)
add_library(assay::proto ALIAS assay_proto)
protobuf_generate(
  TARGET assay_proto
  LANGUAGE cpp
  OUT_VAR assay_proto_sources
  IMPORT_DIRS ${PROJECT_SOURCE_DIR}
  PROTOC_OUT_DIR ${assay_generated}
  PROTOS ${assay_protos})
target_include_directories(assay_proto SYSTEM PUBLIC ${assay_generated})
target_link_libraries(
  assay_proto
  PUBLIC protobuf::libprotobuf absl::status absl::statusor absl::strings
  PRIVATE assay_build absl::str_format absl::time)

add_library(assay_rpc STATIC proto/rpc_status.cpp)
add_library(assay::rpc ALIAS assay_rpc)
protobuf_generate(
  TARGET assay_rpc
  LANGUAGE grpc
  OUT_VAR assay_rpc_sources
  GENERATE_EXTENSIONS .grpc.pb.h .grpc.pb.cc
  PLUGIN "protoc-gen-grpc=$<TARGET_FILE:gRPC::grpc_cpp_plugin>"
  IMPORT_DIRS ${PROJECT_SOURCE_DIR}
  PROTOC_OUT_DIR ${assay_generated}
  PROTOS proto/assay.proto)
target_link_libraries(
  assay_rpc
  PUBLIC assay_proto gRPC::grpc++
  PRIVATE assay_build)

assay_precompile(assay_message_headers OBJECT LIBS assay_proto HEADERS ${assay_message_headers})

# Generated code answers to its generator, not to our warnings.
set_source_files_properties(${assay_proto_sources} ${assay_rpc_sources} PROPERTIES COMPILE_OPTIONS -w)
