#include "probes/module/cmis_applications.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "probes/module/codes.h"
#include "probes/module/screen.h"

namespace linkhealth {

namespace {

constexpr unsigned kLanesPerBank = 8;

/// What the module can be used as (lower page 86.., 01h:223..).
struct Application {
  unsigned number = 0;  ///< AppSel
  std::uint8_t host_id = 0, media_id = 0;
  unsigned host_lanes = 0, media_lanes = 0;  ///< of one data path
  std::vector<unsigned> host_starts,
      media_starts;  ///< first lane of each data path in a bank, 0 first
};

/// CMIS 5.4 tables 8-22 and 8-23: a nibble of 0 leaves the number to the interface, more than 8 is
/// reserved. More lanes than eight go on in the next bank.
unsigned lane_count(unsigned nibble, unsigned of_interface, unsigned otherwise) {
  if (nibble >= 1 && nibble <= kLanesPerBank) return nibble;
  return of_interface == 0 ? otherwise : std::min(of_interface, kLanesPerBank);
}

/// SFF-8024 tables 4-8 and 4-9: a cable's interface is told by that of its host side.
unsigned media_lane_count(unsigned nibble, std::uint8_t media_type, std::uint8_t media_id,
                          unsigned host_lanes) {
  const bool cable = media_type == 3 || media_type == 4;
  return lane_count(nibble, media_interface_lanes(media_type, media_id), cable ? host_lanes : 1);
}

std::vector<unsigned> set_bits(unsigned mask) {
  std::vector<unsigned> out;
  for (unsigned lane = 0; lane < kLanesPerBank; ++lane)
    if ((mask >> lane & 1U) != 0) out.push_back(lane);
  return out;
}

/// Passive copper states its lanes in one descriptor; optics put the media side's start lanes on
/// page 01h. Without them its data paths follow each other.
std::vector<unsigned> media_starts(const Application& app, unsigned mask) {
  if (mask != 0 && mask != 0xff) return set_bits(mask);
  std::vector<unsigned> out;
  for (unsigned i = 0; i < app.host_starts.size(); ++i) out.push_back(i * app.media_lanes);
  return out;
}

/// Lanes of a form factor, by its identifier (SFF-8024 table 4-1); of those that are made wider
/// what one bank holds.
unsigned lanes_of_form_factor(std::uint8_t identifier) {
  switch (identifier) {
    case 0x20:  // SFP
      return 1;
    case 0x1b:  // DSFP
    case 0x1f:  // SFP-DD
      return 2;
    case 0x1e:  // QSFP
    case 0x23:  // CDFP x4
      return 4;
    default:
      return kLanesPerBank;
  }
}

/// Up to the last lane that the near end of a cable has: 00h:210 has a bit for each that is not
/// there (table 8-36).
unsigned lanes_of_cable(const ModuleImage& image) {
  const unsigned width = lanes_of_form_factor(module_head(image).identifier);
  const unsigned all = (1U << width) - 1;
  const unsigned there =
      ~static_cast<unsigned>(upper_page(image, 0x00).byte(210).value_or(0)) & all;
  return there == 0 ? width : static_cast<unsigned>(std::bit_width(there));
}

/// CMIS 5.4 table 8-23 has descriptors of their own for flat memory. One that says its lanes, which
/// is not recommended, and a group that has no table is taken for one of before: there the fourth
/// byte is where the lanes begin.
bool is_flat_descriptor(const ModuleImage& image, unsigned lanes, unsigned fourth_byte) {
  const std::uint8_t revision = module_head(image).revision;
  const bool says_lanes = (lanes & 0xf0U) != 0 && (lanes & 0x0fU) != 0;
  return cmis_is_flat(image) && revision >= 0x54 && revision <= 0x5f &&
         !(says_lanes && fourth_byte >> 4U != 0);
}

/// Such a descriptor is recommended to name the interface of a single lane at the fastest rate, and
/// no more (8.2.13): the cable has it as often as it has room for it. Its fourth byte is the group
/// of the host's id; only group 0 has a table.
Application flat_application(const ModuleImage& image, unsigned number, unsigned at) {
  const ModulePage lower = lower_page(image);
  const unsigned lanes = lower.byte(at + 2).value_or(0), width = lanes_of_cable(image);
  Application out;
  out.number = number;
  out.host_id =
      (lower.byte(at + 3).value_or(0) >> 4U) == 0 ? lower.byte(at).value_or(0) : std::uint8_t{0};
  out.media_id = lower.byte(at + 1).value_or(0);
  out.host_lanes = lane_count(lanes >> 4U, host_interface_lanes(out.host_id), width);
  out.media_lanes =
      media_lane_count(lanes & 0x0fU, lower.byte(85).value_or(0), out.media_id, out.host_lanes);
  for (unsigned first = 0; first == 0 || first + out.host_lanes <= width; first += out.host_lanes)
    out.host_starts.push_back(first);
  out.media_starts = media_starts(out, 0);
  return out;
}

std::optional<Application> application(const ModuleImage& image, unsigned number) {
  if (number < 1 || number > 15) return std::nullopt;
  const ModulePage lower = lower_page(image);
  const ModulePage advert = upper_page(image, 0x01);
  const ModulePage& page = number <= 8 ? lower : advert;
  const unsigned at = number <= 8 ? 86 + 4 * (number - 1) : 223 + 4 * (number - 9);
  const auto host_id = page.byte(at);
  const auto media_id = page.byte(at + 1);
  const auto lanes = page.byte(at + 2);
  const auto starts = page.byte(at + 3);
  if (!host_id || !media_id || !lanes || !starts || *host_id == 0xff || *host_id == 0)
    return std::nullopt;
  if (number <= 8 && is_flat_descriptor(image, *lanes, *starts))
    return flat_application(image, number, at);
  const unsigned host_lanes = lane_count(*lanes >> 4U, host_interface_lanes(*host_id), 1);
  const unsigned media_lanes =
      media_lane_count(*lanes & 0x0fU, lower.byte(85).value_or(0), *media_id, host_lanes);
  Application out{number, *host_id, *media_id, host_lanes, media_lanes, set_bits(*starts), {}};
  if (out.host_starts.empty()) out.host_starts.push_back(0);
  out.media_starts = media_starts(out, advert.byte(176 + number - 1).value_or(0));
  return out;
}

/// AppSel of one host lane (11h:206..213); 0: none runs on it, or that was not read.
unsigned selected(const ModulePage& lanes, unsigned lane) {
  return lanes.byte(206 + lane).value_or(0) >> 4U;
}

/// In the order of the lanes that they run on. The first that the module describes where none runs,
/// or none was read.
std::vector<Application> applications_in_use(const ModuleImage& image) {
  std::vector<Application> out;
  for (std::uint8_t bank = 0; bank < cmis_bank_count(image); ++bank)
    for (unsigned lane = 0; lane < kLanesPerBank; ++lane) {
      const auto app = application(image, selected(upper_page(image, 0x11, bank), lane));
      const auto same = [&](const Application& other) { return other.number == app->number; };
      if (app && std::none_of(out.begin(), out.end(), same)) out.push_back(*app);
    }
  if (!out.empty()) return out;
  if (const auto first = application(image, 1)) out.push_back(*first);
  return out;
}

unsigned extent(const std::vector<unsigned>& starts, unsigned lanes) {
  const unsigned behind_last = *std::max_element(starts.begin(), starts.end()) + lanes;
  const auto together = static_cast<unsigned>(starts.size()) * lanes;
  return std::min(kLanesPerBank, std::max(behind_last, together));
}

/// A lane in use is one of the module whatever its application's descriptor says.
unsigned last_in_use(const ModuleImage& image) {
  unsigned out = 0;
  for (std::uint8_t bank = 0; bank < cmis_bank_count(image); ++bank)
    for (unsigned lane = 0; lane < kLanesPerBank; ++lane)
      if (selected(upper_page(image, 0x11, bank), lane) != 0) out = std::max(out, lane + 1);
  return out;
}

void set_extents(const ModuleImage& image, const std::vector<Application>& apps, bool optical,
                 CmisLanes& out) {
  for (const Application& app : apps) {
    out.host_per_bank = std::max(out.host_per_bank, extent(app.host_starts, app.host_lanes));
    out.media_per_bank = std::max(out.media_per_bank, extent(app.media_starts, app.media_lanes));
  }
  out.host_per_bank = std::max(out.host_per_bank, last_in_use(image));
  if (!optical) out.media_per_bank = out.host_per_bank;
}

/// How many of its data paths run. Where it is the only one, how many it has: those of a half that
/// is not used, too.
std::size_t count_of(const ModuleImage& image, const Application& app, bool only) {
  const std::size_t banks = cmis_bank_count(image);
  if (only) return app.host_starts.size() * banks;
  std::size_t lanes = 0;
  for (std::uint8_t bank = 0; bank < banks; ++bank)
    for (unsigned lane = 0; lane < kLanesPerBank; ++lane)
      if (selected(upper_page(image, 0x11, bank), lane) == app.number) ++lanes;
  return std::max<std::size_t>(1, lanes / app.host_lanes);
}

void append(std::string& text, std::string_view more) {
  text += (text.empty() ? "" : " + ") + std::string(more);
}

void set_names(const ModuleImage& image, const std::vector<Application>& apps, CmisLanes& out) {
  for (const Application& app : apps) {
    const std::string_view host = host_interface_name(app.host_id);
    const std::string_view media =
        media_interface_name(lower_page(image).byte(85).value_or(0), app.media_id);
    const std::string_view name = media.empty() ? host : media;
    const std::size_t count = count_of(image, app, apps.size() == 1);
    if (!host.empty()) append(out.host_interface, host);
    if (!name.empty())
      append(out.type, count == 1 && apps.size() == 1 ? std::string(name)
                                                      : fmt::format("{}x{}", count, name));
  }
}

/// The data path of the application's n-th start, in a bank.
DataPath data_path(const Application& app, std::size_t n, std::size_t bank, bool optical,
                   const CmisLanes& lanes) {
  const std::size_t host = bank * kLanesPerBank + app.host_starts[n];
  if (!optical)
    return {host, app.host_lanes, bank * lanes.media_per_bank + app.host_starts[n], app.host_lanes,
            false};
  return {host, app.host_lanes, bank * lanes.media_per_bank + app.media_starts[n], app.media_lanes,
          false};
}

void set_data_paths(const ModuleImage& image, const std::vector<Application>& apps, bool optical,
                    CmisLanes& out) {
  std::vector<DataPath> idle;
  for (std::uint8_t bank = 0; bank < cmis_bank_count(image); ++bank)
    for (const Application& app : apps)
      for (std::size_t n = 0; n < std::min(app.host_starts.size(), app.media_starts.size()); ++n) {
        const bool runs = selected(upper_page(image, 0x11, bank), app.host_starts[n]) == app.number;
        DataPath path = data_path(app, n, bank, optical, out);
        path.runs = runs;
        (runs ? out.data_paths : idle).push_back(path);
      }
  out.data_paths.insert(out.data_paths.end(), idle.begin(), idle.end());
}

HostShare share_of(const DataPath& path, std::size_t media_lane) {
  const std::size_t index = media_lane - path.media_first;
  const std::size_t first = index * path.host_lanes / path.media_lanes;
  const std::size_t end = (index + 1) * path.host_lanes / path.media_lanes;
  return {path.host_first + first, path.host_first + std::max(first + 1, end)};
}

}  // namespace

HostShare host_share(const CmisLanes& lanes, std::size_t media_lane) {
  for (const DataPath& path : lanes.data_paths)
    if (media_lane >= path.media_first && media_lane < path.media_first + path.media_lanes)
      return share_of(path, media_lane);
  if (lanes.media_per_bank == 0) return {};
  const std::size_t bank = media_lane / lanes.media_per_bank;
  return share_of({bank * kLanesPerBank, lanes.host_per_bank, bank * lanes.media_per_bank,
                   lanes.media_per_bank, false},
                  media_lane);
}

CmisLanes cmis_lanes(const ModuleImage& image, bool optical) {
  CmisLanes out;
  const std::vector<Application> apps = applications_in_use(image);
  if (apps.empty()) return out;
  set_extents(image, apps, optical, out);
  set_names(image, apps, out);
  set_data_paths(image, apps, optical, out);
  return out;
}

}  // namespace linkhealth
