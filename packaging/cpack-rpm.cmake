# Read by cpack for each generator. The .deb has its debug symbols in a package of their own; that package's files fit the .rpm's
# programs too, which are the same.
if(CPACK_GENERATOR STREQUAL "RPM")
  set(CPACK_STRIP_FILES ON)
endif()
