// What each latched flag of a module is called where it is remembered, as rows of tables, and a way
// over all of them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/snapshot.h"

namespace linkhealth::module_flag_names {

struct ModuleQuad {
  std::string_view name;
  AlarmFlags ModuleSample::*flags;
};
inline constexpr ModuleQuad kModuleQuads[] = {
    {"temperature", &ModuleSample::temperature_flags},
    {"supply", &ModuleSample::supply_flags},
    {"laser_temperature", &ModuleSample::laser_temperature_flags},
    {"tec", &ModuleSample::tec_flags},
    {"second_supply", &ModuleSample::second_supply_flags},
    {"second_laser_temperature", &ModuleSample::second_laser_temperature_flags},
    {"second_tec", &ModuleSample::second_tec_flags},
    {"auxiliary", &ModuleSample::auxiliary_flags},
    {"custom", &ModuleSample::custom_flags},
};

struct ModuleBit {
  std::string_view name;
  std::optional<bool> ModuleSample::*flag;
};
inline constexpr ModuleBit kModuleBits[] = {
    {"module_firmware_error", &ModuleSample::module_firmware_error},
    {"data_path_firmware_error", &ModuleSample::data_path_firmware_error},
    {"abnormal_firmware", &ModuleSample::abnormal_firmware},
    {"module_state_changed", &ModuleSample::state_changed},
};

struct LaneBit {
  std::string_view name;
  std::optional<bool> ModuleLane::*flag;
  bool of_host = false;  ///< with CMIS the host lanes have it, and the media lane's is only derived
                         ///< from theirs
};
inline constexpr LaneBit kLaneBits[] = {
    {"rx_los", &ModuleLane::rx_los},       {"rx_lol", &ModuleLane::rx_lol},
    {"tx_fault", &ModuleLane::tx_fault},   {"tx_los", &ModuleLane::tx_los, true},
    {"tx_lol", &ModuleLane::tx_lol, true}, {"tx_eq_fault", &ModuleLane::tx_eq_fault, true},
};

struct LaneQuad {
  std::string_view name;
  AlarmFlags ModuleLane::*flags;
};
inline constexpr LaneQuad kLaneQuads[] = {
    {"rx_power", &ModuleLane::rx_power_flags},
    {"tx_power", &ModuleLane::tx_power_flags},
    {"tx_bias", &ModuleLane::tx_bias_flags},
};

struct LaserBit {
  std::string_view name;
  std::optional<bool> LaserTuning::*flag;
};
inline constexpr LaserBit kLaserBits[] = {
    {"laser_wavelength_unlocked", &LaserTuning::wavelength_unlocked},
    {"laser_channel_invalid", &LaserTuning::channel_invalid},
    {"laser_tuning_not_accepted", &LaserTuning::tuning_not_accepted},
    {"laser_fine_tuning_out_of_range", &LaserTuning::fine_tuning_out_of_range},
    {"laser_target_power_out_of_range", &LaserTuning::target_power_out_of_range},
    {"laser_cooler_fault", &LaserTuning::cooler_fault},
};

struct CoherentBit {
  std::string_view name;
  std::optional<bool> CoherentFlags::*flag;
};
inline constexpr CoherentBit kCoherentBits[] = {
    {"coherent_tx_loss_of_alignment", &CoherentFlags::tx_loss_of_alignment},
    {"coherent_tx_out_of_alignment", &CoherentFlags::tx_out_of_alignment},
    {"coherent_tx_cmu_lol", &CoherentFlags::tx_cmu_lol},
    {"coherent_tx_reference_clock_lol", &CoherentFlags::tx_reference_clock_lol},
    {"coherent_tx_deskew_lol", &CoherentFlags::tx_deskew_lol},
    {"coherent_tx_fifo_error", &CoherentFlags::tx_fifo_error},
    {"coherent_rx_loss_of_frame", &CoherentFlags::rx_loss_of_frame},
    {"coherent_rx_loss_of_multi_frame", &CoherentFlags::rx_loss_of_multi_frame},
    {"coherent_rx_demodulator_lol", &CoherentFlags::rx_demodulator_lol},
    {"coherent_rx_dispersion_lol", &CoherentFlags::rx_dispersion_lol},
    {"coherent_rx_loss_of_alignment", &CoherentFlags::rx_loss_of_alignment},
    {"coherent_rx_out_of_alignment", &CoherentFlags::rx_out_of_alignment},
    {"coherent_rx_deskew_lol", &CoherentFlags::rx_deskew_lol},
    {"coherent_rx_fifo_error", &CoherentFlags::rx_fifo_error},
};

struct HostBit {
  std::string_view name;
  std::optional<bool> ModuleHostLane::*flag;
};
inline constexpr HostBit kHostBits[] = {
    {"host_tx_los", &ModuleHostLane::tx_los},
    {"host_tx_lol", &ModuleHostLane::tx_lol},
    {"host_tx_eq_fault", &ModuleHostLane::tx_eq_fault},
    {"host_data_path_changed", &ModuleHostLane::data_path_changed},
    {"host_rx_output_changed", &ModuleHostLane::rx_output_changed},
};

struct Level {
  std::string_view name;
  std::optional<bool> AlarmFlags::*flag;
};
inline constexpr Level kLevels[] = {
    {"low_alarm", &AlarmFlags::low_alarm},
    {"low_warn", &AlarmFlags::low_warn},
    {"high_warn", &AlarmFlags::high_warn},
    {"high_alarm", &AlarmFlags::high_alarm},
};

using Lane = std::optional<std::uint32_t>;

/// `visit(name, lane, flag)` for each of a quad.
template <typename Flags, typename Visit>
void visit_quad(const std::string& name, Lane lane, Flags& flags, const Visit& visit) {
  for (const Level& level : kLevels)
    visit(name + "_" + std::string(level.name), lane, flags.*level.flag);
}

/// `visit(name, lane, flag)` for every flag of a sample but those that are lists: of VDM the set
/// ones, and the others.
template <typename Sample, typename Visit>
void visit_flags(Sample& sample, const Visit& visit) {
  for (const ModuleQuad& row : kModuleQuads)
    visit_quad(std::string(row.name), Lane(), sample.*row.flags, visit);
  for (const ModuleBit& row : kModuleBits) visit(std::string(row.name), Lane(), sample.*row.flag);
  for (std::uint32_t i = 0; i < sample.lanes.size(); ++i) {
    for (const LaneBit& row : kLaneBits)
      if (!row.of_host || sample.host_lanes.empty())
        visit(std::string(row.name), Lane(i + 1), sample.lanes[i].*row.flag);
    for (const LaneQuad& row : kLaneQuads)
      visit_quad(std::string(row.name), Lane(i + 1), sample.lanes[i].*row.flags, visit);
  }
  for (std::uint32_t i = 0; i < sample.laser_tuning.size(); ++i)
    for (const LaserBit& row : kLaserBits)
      visit(std::string(row.name), Lane(i + 1), sample.laser_tuning[i].*row.flag);
  for (const CoherentBit& row : kCoherentBits)
    visit(std::string(row.name), Lane(1), sample.coherent_flags.*row.flag);
  for (std::uint32_t i = 0; i < sample.host_lanes.size(); ++i)
    for (const HostBit& row : kHostBits)
      visit(std::string(row.name), Lane(i + 1), sample.host_lanes[i].*row.flag);
}

}  // namespace linkhealth::module_flag_names
