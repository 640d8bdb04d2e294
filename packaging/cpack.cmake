# CPack: `cpack -G DEB` or `-G RPM` in a release build's folder.

set(CPACK_PACKAGE_NAME linkhealth)
set(CPACK_PACKAGE_VENDOR linkhealth)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "")  # each package has its own
set(CPACK_PACKAGE_CONTACT "${LINKHEALTH_MAINTAINER}")
set(CPACK_RESOURCE_FILE_LICENSE "${CMAKE_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL linkhealth linkhealth-dashboards)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_PACKAGE_DIRECTORY "${CMAKE_BINARY_DIR}/packages")
set(CPACK_STRIP_FILES OFF)  # the debug symbols go to a package of their own
set(CPACK_THREADS 1)  # the same bytes each time
set(CPACK_COMPONENT_LINKHEALTH_DESCRIPTION "watches RDMA and Ethernet links and names faulty cables
linkhealthd reads ports, optical modules, FEC and the far end through the
kernel, names the fault of a link, its end and the first step, and verifies
the repair. It serves metrics for Prometheus. The command linkhealth shows
them to the engineer on call.")
set(CPACK_COMPONENT_LINKHEALTH-DASHBOARDS_DESCRIPTION "Prometheus rules and Grafana dashboards of linkhealth
Recording rules, alerts with their runbooks, dashboards and an example of an
Alertmanager configuration, in /usr/share/linkhealth-dashboards. For the
host of Prometheus and Grafana; nodes do not need it.")

# Debian
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE "${LINKHEALTH_PACKAGE_RELEASE}")
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_LINKHEALTH_PACKAGE_NAME linkhealth)
set(CPACK_DEBIAN_LINKHEALTH_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_LINKHEALTH_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_LINKHEALTH_PACKAGE_DEPENDS "systemd | systemd-standalone-sysusers")
set(CPACK_DEBIAN_LINKHEALTH_PACKAGE_RECOMMENDS "libibverbs1, ibverbs-providers, libibumad3")
set(CPACK_DEBIAN_LINKHEALTH_PACKAGE_SUGGESTS "lldpd")  # it sends LLDP: a decision of the site
set(CPACK_DEBIAN_LINKHEALTH_DEBUGINFO_PACKAGE ON)
set(CPACK_DEBIAN_LINKHEALTH-DASHBOARDS_PACKAGE_NAME linkhealth-dashboards)
set(CPACK_DEBIAN_LINKHEALTH-DASHBOARDS_PACKAGE_SECTION admin)
set(CPACK_DEBIAN_LINKHEALTH-DASHBOARDS_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_LINKHEALTH-DASHBOARDS_PACKAGE_SUGGESTS "prometheus (>= 2.42), prometheus-alertmanager")
set(scripts "${CMAKE_CURRENT_BINARY_DIR}/deb")
configure_file(deb/preinst "${scripts}/preinst" @ONLY)
foreach(script postinst prerm postrm conffiles triggers)
  configure_file(deb/${script} "${scripts}/${script}" COPYONLY)
endforeach()
set(CPACK_DEBIAN_LINKHEALTH_PACKAGE_CONTROL_EXTRA "${scripts}/preinst;${scripts}/postinst;${scripts}/prerm;${scripts}/postrm;${scripts}/conffiles;${scripts}/triggers")

# RPM
set(CPACK_RPM_COMPRESSION_TYPE xz)  # which every rpm reads
# The same bytes each time, and on each machine.
set(CPACK_RPM_SPEC_MORE_DEFINE "%global _buildhost localhost
%global use_source_date_epoch_as_buildtime 1
%global clamp_mtime_to_source_date_epoch 1")
set(CPACK_RPM_COMPONENT_INSTALL ON)
set(CPACK_RPM_MAIN_COMPONENT linkhealth)
set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_RELEASE "${LINKHEALTH_PACKAGE_RELEASE}")
set(CPACK_RPM_PACKAGE_LICENSE "Apache-2.0")
set(CPACK_RPM_PACKAGE_RELOCATABLE OFF)
set(CPACK_RPM_LINKHEALTH_PACKAGE_NAME linkhealth)
set(CPACK_RPM_LINKHEALTH_PACKAGE_SUMMARY "watches RDMA and Ethernet links and names faulty cables")
set(CPACK_RPM_LINKHEALTH_PACKAGE_REQUIRES "systemd")
set(CPACK_RPM_LINKHEALTH_PACKAGE_SUGGESTS "libibverbs, libibumad, lldpd")
set(CPACK_RPM_LINKHEALTH_USER_FILELIST "%config(noreplace) ${CONFIG_DIR}/linkhealth.yaml")
set(CPACK_RPM_LINKHEALTH_POST_INSTALL_SCRIPT_FILE "${CMAKE_CURRENT_SOURCE_DIR}/rpm/post")
set(CPACK_RPM_LINKHEALTH_PRE_UNINSTALL_SCRIPT_FILE "${CMAKE_CURRENT_SOURCE_DIR}/rpm/preun")
set(CPACK_RPM_LINKHEALTH_POST_UNINSTALL_SCRIPT_FILE "${CMAKE_CURRENT_SOURCE_DIR}/rpm/postun")
set(CPACK_RPM_LINKHEALTH-DASHBOARDS_PACKAGE_NAME linkhealth-dashboards)
set(CPACK_RPM_LINKHEALTH-DASHBOARDS_PACKAGE_SUMMARY "Prometheus rules and Grafana dashboards of linkhealth")
set(CPACK_RPM_LINKHEALTH-DASHBOARDS_PACKAGE_ARCHITECTURE noarch)
set(CPACK_RPM_LINKHEALTH-DASHBOARDS_PACKAGE_AUTOREQ OFF)
if(LINKHEALTH_SYSROOT)  # the portable build: what the root has says nothing of the node's packages
  set(CPACK_DEBIAN_PACKAGE_ARCHITECTURE "${LINKHEALTH_ARCH}")
  set(CPACK_RPM_PACKAGE_ARCHITECTURE "${CMAKE_SYSTEM_PROCESSOR}")
  set(CPACK_DEBIAN_LINKHEALTH_PACKAGE_SHLIBDEPS OFF)
  string(PREPEND CPACK_DEBIAN_LINKHEALTH_PACKAGE_DEPENDS "libc6 (>= 2.28), libsystemd0, ")
endif()
# Folders that the system owns.
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /usr/lib/systemd /usr/lib/systemd/system /usr/lib/systemd/catalog
    /usr/lib/sysusers.d /usr/lib/tmpfiles.d /usr/lib/udev /usr/lib/udev/rules.d /usr/share/bash-completion
    /usr/share/bash-completion/completions /usr/share/zsh /usr/share/zsh/vendor-completions /usr/share/fish
    /usr/share/fish/vendor_completions.d /usr/share/man /usr/share/man/man1 /usr/share/man/man8)
set(CPACK_PROJECT_CONFIG_FILE "${CMAKE_CURRENT_SOURCE_DIR}/cpack-rpm.cmake")
include(CPack)
