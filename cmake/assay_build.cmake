# The one interface target that carries language level, warnings, numerics and sanitizers.
add_library(assay_build INTERFACE)
target_compile_features(assay_build INTERFACE cxx_std_20)
target_include_directories(assay_build INTERFACE ${PROJECT_SOURCE_DIR})
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CUDA_EXTENSIONS OFF)
set(CMAKE_CUDA_STANDARD 20)
# A CMake older than the toolkit may not know that it speaks C++20.
if(ASSAY_CUDA AND NOT "cuda_std_20" IN_LIST CMAKE_CUDA_COMPILE_FEATURES)
  target_compile_options(assay_build INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>)
endif()
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

set(assay_warnings -Wall -Wextra -Wshadow -Wconversion)
# What is part of the bits.
set(assay_cpu_numerics -ffp-contract=off)
set(assay_cuda_numerics --fmad=false --prec-div=true --prec-sqrt=true --ftz=false)
target_compile_options(
  assay_build
  INTERFACE $<$<COMPILE_LANGUAGE:CXX>:${assay_warnings};${assay_cpu_numerics}>
            $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<BOOL:${ASSAY_WERROR}>>:-Werror>)

# Presets name the architectures whether or not there is a toolkit to use them.
if(NOT ASSAY_CUDA)
  unset(CMAKE_CUDA_ARCHITECTURES CACHE)
endif()

# The numerics are part of the bits: an fma stands only where the source says so.
target_compile_options(
  assay_build
  INTERFACE
    $<$<COMPILE_LANGUAGE:CUDA>:${assay_cuda_numerics};-lineinfo;--compress-mode=size>
    $<$<COMPILE_LANGUAGE:CUDA>:-Xcompiler=-Wall,-Wextra,${assay_cpu_numerics}>
    $<$<AND:$<COMPILE_LANGUAGE:CUDA>,$<BOOL:${ASSAY_WERROR}>>:-Werror=all-warnings>)

if(ASSAY_SANITIZE STREQUAL "address")
  target_compile_options(assay_build INTERFACE -fsanitize=address,undefined
                                               -fno-sanitize-recover=undefined
                                               -fno-omit-frame-pointer)
  target_link_options(assay_build INTERFACE -fsanitize=address,undefined)
elseif(ASSAY_SANITIZE STREQUAL "thread")
  target_compile_options(assay_build INTERFACE -fsanitize=thread -fno-omit-frame-pointer)
  target_link_options(assay_build INTERFACE -fsanitize=thread)
elseif(NOT ASSAY_SANITIZE STREQUAL "")
  message(FATAL_ERROR "ASSAY_SANITIZE: '${ASSAY_SANITIZE}' is not empty, address or thread")
endif()

# Version of the code as a generated header, so that a result can name what measured it.
find_package(Git QUIET)
set(ASSAY_CODE_VERSION "${PROJECT_VERSION}")
if(GIT_FOUND)
  execute_process(
    COMMAND ${GIT_EXECUTABLE} -C ${PROJECT_SOURCE_DIR} describe --always --dirty --abbrev=12
    OUTPUT_VARIABLE assay_git_describe
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(assay_git_describe)
    set(ASSAY_CODE_VERSION "${PROJECT_VERSION}+${assay_git_describe}")
  endif()
endif()

# What kernels are compiled with, as far as it can change bits or speed: optimisation, numerics, instruction sets.
function(assay_build_flags language numerics result)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" configuration)
  separate_arguments(flags UNIX_COMMAND
                     "${CMAKE_${language}_FLAGS} ${CMAKE_${language}_FLAGS_${configuration}}")
  list(FILTER flags INCLUDE REGEX "^(-O|-m|-f|--|-arch|-gencode|-use_fast_math)")
  list(FILTER flags EXCLUDE REGEX "prefix-map|visibility|^-fPIC|diagnostics|/")
  list(APPEND flags ${numerics})
  list(JOIN flags " " flags)
  set(${result} "${flags}" PARENT_SCOPE)
endfunction()
assay_build_flags(CXX "${assay_cpu_numerics}" ASSAY_CPU_BUILD_FLAGS)
set(ASSAY_CUDA_BUILD_FLAGS "")
if(ASSAY_CUDA)
  list(JOIN CMAKE_CUDA_ARCHITECTURES "," assay_architectures)
  assay_build_flags(CUDA "${assay_cuda_numerics};architectures=${assay_architectures}" ASSAY_CUDA_BUILD_FLAGS)
endif()
