# assay_add_module(NAME SOURCE...) makes NAME.so, a module of kernels for assayd (docs/modules.md). Sources include
# "assay/module.h" and define `assay_module`. Sums stay as they are written: no contraction, neither on the host nor
# on the device. Works from an installed assay (share/assay/cmake) and from its source tree.
set(assay_module_include "${CMAKE_CURRENT_LIST_DIR}/../../../include")
if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/../kernels/module.h")
  set(assay_module_include "${CMAKE_BINARY_DIR}/module/include")
  configure_file("${CMAKE_CURRENT_LIST_DIR}/../kernels/module.h"
                 "${assay_module_include}/assay/module.h" COPYONLY)
endif()

function(assay_add_module name)
  if(NOT name MATCHES "^[A-Za-z0-9_-]+$")
    message(FATAL_ERROR "assay_add_module: `${name}` must be letters, digits, '_' or '-'")
  endif()
  add_library(${name} MODULE ${ARGN})
  set_target_properties(
    ${name}
    PROPERTIES PREFIX ""
               SUFFIX ".so"
               C_VISIBILITY_PRESET hidden
               CXX_VISIBILITY_PRESET hidden
               CUDA_VISIBILITY_PRESET hidden)
  target_include_directories(${name} PRIVATE "${assay_module_include}")
  target_compile_options(
    ${name} PRIVATE $<$<COMPILE_LANGUAGE:C,CXX>:-ffp-contract=off>
                    $<$<COMPILE_LANGUAGE:CUDA>:--fmad=false;-Xcompiler=-ffp-contract=off>)
endfunction()
