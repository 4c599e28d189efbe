# Where the programs live once installed, and how they find the shared libraries that a bundle carries.
# An old-style run path also serves the libraries that the carried libraries need.
function(assay_run_path target path)
  target_link_options(${target} PRIVATE "LINKER:--disable-new-dtags")
  set_target_properties(${target} PROPERTIES INSTALL_RPATH "$ORIGIN/${path}")
endfunction()

# assay_install(assayd bin): the program goes to bin/ (or libexec/assay/) and looks for libraries in lib/assay/.
function(assay_install target destination)
  string(REGEX REPLACE "[^/]+" ".." up ${destination})
  assay_run_path(${target} "${up}/lib/assay")
  install(TARGETS ${target} RUNTIME DESTINATION ${destination})
endfunction()
