// A small InfiniBand fabric in memory: what is at the other end of one cable, answering the bytes
// of a MadPort.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "probes/peer/mad_port.h"

namespace linkhealth::testing {

struct FakeFabric {
  // this node's port
  std::uint32_t own_phys_state = 5;  ///< LinkUp
  std::uint32_t own_state = 4;       ///< ACTIVE
  std::uint16_t own_lid = 99;
  // the node at the other end
  std::uint32_t node_type = 2;  ///< a switch
  std::uint64_t node_guid = 0xb83fd20300123456;
  std::uint8_t node_ports = 40;
  std::uint8_t node_local_port = 17;
  std::string description = "leaf-12";
  std::uint32_t state = 4;  ///< ACTIVE
  std::uint32_t width = 2;  ///< 4X
  std::uint32_t speed = 4;
  std::uint32_t extended_speed = 8;  ///< NDR
  std::uint16_t switch_lid = 12;
  std::uint16_t port_lid = 0;  ///< in PortInfo of the far port; a switch has its LID in port 0
  std::uint32_t perf_mask = 0x1200;
  std::uint32_t perf_mask2 = 0;
  std::uint32_t symbol_error = 7;
  std::uint32_t port_select_offset = 0;  ///< added to the port number of counters

  /// By attribute (0x0011 NodeInfo, 0x0010 NodeDescription, 0x0015 PortInfo, 0x0001, 0x0012,
  /// 0x001d), only for requests to the other end.
  std::map<std::uint32_t, int> errnum;            ///< exchange() fails with this
  std::map<std::uint32_t, std::uint16_t> status;  ///< the answer's status
  /// Changes an answer just before it is given.
  std::function<void(std::vector<std::uint8_t>&)> spoil;

  // what the fabric received
  struct Request {
    Mad request{};
    std::uint16_t lid = 0;
    Milliseconds timeout{};
    int tries = 0;
  };
  std::vector<Request> requests;
  int opened = 0, open_now = 0;
  int open_errnum = 0;

  [[nodiscard]] std::vector<std::uint32_t> attributes() const;
  Result<std::vector<std::uint8_t>> answer(std::uint16_t lid, const Mad& request,
                                           Milliseconds timeout, int tries);
  /// REQUIRES: the fabric outlives what it opens.
  MadOpener opener();
};

}  // namespace linkhealth::testing
