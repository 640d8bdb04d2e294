// The configuration: one YAML file in which every key is optional. An invalid key or value is an
// error with its line, the allowed range and the nearest valid key. dump_config() writes the
// configuration in force as such a file.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/expected_ports.h"
#include "model/setting_table.h"
#include "model/snapshot.h"

namespace linkhealth {

enum class LogLevel : std::uint8_t { kError, kWarning, kInfo, kDebug };
/// "error", "warning", "info", "debug".
std::string_view to_string(LogLevel level);
/// The error lists the four valid words.
Result<LogLevel> parse_log_level(std::string_view text);

/// Where the HTTP server listens.
struct ListenAddress {
  std::string host = "127.0.0.1";  ///< an IPv4 or IPv6 address or "localhost"; "" for no server
  std::uint16_t port = 9942;       ///< 0: any free port
  bool operator==(const ListenAddress&) const = default;
};
/// "127.0.0.1:9942", "[::1]:9942", "localhost:0", ":9942" (all addresses) or "none".
Result<ListenAddress> parse_listen_address(std::string_view text);
std::string to_string(const ListenAddress& address);

/// The metrics as a file for node_exporter.
struct TextfileSettings {
  std::string path;             ///< "…/linkhealth.prom"; "": off
  std::uint32_t period_s = 15;  ///< how often it is written
};

struct Config : ExpectedPorts {
  ListenAddress listen;
  std::string socket_path = "/run/linkhealth/linkhealth.sock";
  std::string state_dir = "/var/lib/linkhealth";
  std::string node;                                ///< "": the host's name
  std::string record_path;                         ///< "": no recording
  std::string lldpd_socket = "/run/lldpd.socket";  ///< this and the next: section "peers"
  /// Readings from other programs; not kept over a reboot.
  std::string import_dir = "/run/linkhealth/import";
  std::string plan_path;  ///< the cabling plan (config/plan.h); "": none
  std::string maintenance_dir = "/etc/linkhealth/maintenance";  ///< of maintenance files; "": none
  bool dry_run = false;  ///< diagnose and show, but announce nothing
  LogLevel log_level = LogLevel::kInfo;
  std::map<std::string, std::string> site;  ///< labels of the place: row, rack, …
  std::string control_group;                ///< its members may act on the Unix socket
  std::string socket_mode = "0660";         ///< of the Unix socket: "0600", "0660" or "0666"
  std::string socket_group;                 ///< owner of the socket; "": the daemon's group
  std::string web_config_file;              ///< TLS and passwords of the TCP side
  TextfileSettings textfile;
  SettingTable setting_table;
};

/// Maximum size of a configuration file in bytes.
inline constexpr std::size_t kMaxConfigBytes = std::size_t{1} << 20;

/// All keys at their defaults. The groups' storage must outlive the configuration.
Config default_config(std::span<const SettingGroup> groups);
/// Reads a configuration text. Errors are prefixed with `file_name`: `FILE:14: unknown key
/// "flap_windw_s" (did you mean …?)`.
Result<Config> load_config(std::string_view text, std::string_view file_name,
                           std::span<const SettingGroup> groups);
/// Like load_config, from a file.
Result<Config> load_config_file(const std::string& path, std::span<const SettingGroup> groups);
/// The whole configuration as YAML, each key with its meaning, unit and bounds. load_config() reads
/// it back as `config`.
std::string dump_config(const Config& config);

}  // namespace linkhealth
