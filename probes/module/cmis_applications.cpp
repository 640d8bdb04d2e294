#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "probes/module/cmis.h"
#include "probes/module/codes.h"
#include "probes/module/screen.h"

namespace linkhealth {

namespace {

/// A mode that the module supports (lower page 86.., 01h:223..).
struct Application {
  unsigned number = 0;  ///< AppSel
  std::uint8_t host_id = 0, media_id = 0;
  unsigned host_lanes = 0, media_lanes = 0;  ///< of one data path
  /// First lane of each data path in a bank, from 0.
  std::vector<unsigned> host_starts, media_starts;
};

/// CMIS 5.4 tables 8-22 and 8-23: a nibble of 0 leaves the number to the interface, more than 8 is
/// reserved. More than eight lanes continue in the next bank.
unsigned lane_count(unsigned nibble, unsigned of_interface, unsigned otherwise) {
  if (nibble >= 1 && nibble <= kLanesPerBank) return nibble;
  return of_interface == 0 ? otherwise : std::min(of_interface, kLanesPerBank);
}

std::vector<unsigned> set_bits(unsigned mask) {
  std::vector<unsigned> out;
  for (unsigned lane = 0; lane < kLanesPerBank; ++lane)
    if ((mask >> lane & 1U) != 0) out.push_back(lane);
  return out;
}

std::optional<Application> application(const ModuleImage& image, unsigned number) {
  if (number < 1 || number > 15) return std::nullopt;
  const ModulePage lower = lower_page(image);
  const ModulePage advert = upper_page(image, 0x01);
  const ModulePage& page = number <= 8 ? lower : advert;
  const unsigned at = number <= 8 ? 86 + 4 * (number - 1) : 223 + 4 * (number - 9);
  if (!page.u32(at) || page.byte(at) == 0xff || page.byte(at) == 0) return std::nullopt;
  Application out{number, page.code(at), page.code(at + 1), 0, 0, {}, {}};
  const unsigned lanes = page.code(at + 2);
  out.host_lanes = lane_count(lanes >> 4U, host_interface(out.host_id).lanes, 1);
  // SFF-8024 tables 4-8 and 4-9: a cable has the interface of its host side.
  const std::uint8_t media_type = lower.code(85);
  const bool cable = media_type == 3 || media_type == 4;
  out.media_lanes = lane_count(lanes & 0x0fU, media_interface(media_type, out.media_id).lanes,
                               cable ? out.host_lanes : 1);
  out.host_starts = set_bits(page.code(at + 3));
  if (out.host_starts.empty()) out.host_starts.push_back(0);
  // Passive copper states its lanes in one descriptor; optics have the media side's start lanes on
  // page 01h. Without them the data paths are consecutive.
  const unsigned media_mask = advert.code(176 + number - 1);
  if (media_mask != 0 && media_mask != 0xff)
    out.media_starts = set_bits(media_mask);
  else
    for (unsigned i = 0; i < out.host_starts.size(); ++i)
      out.media_starts.push_back(i * out.media_lanes);
  return out;
}

/// AppSel of each host lane (11h:206..213); 0: none runs on it, or it was not read.
std::vector<unsigned> selected_applications(const ModuleImage& image) {
  std::vector<unsigned> out;
  for (std::uint8_t bank = 0; bank < cmis_bank_count(image); ++bank)
    for (unsigned lane = 0; lane < kLanesPerBank; ++lane)
      out.push_back(upper_page(image, 0x11, bank).code(206 + lane) >> 4U);
  return out;
}

/// In the order of the lanes on which they run. If none runs or none was read: the first one that
/// the module describes.
std::vector<Application> applications_in_use(const ModuleImage& image,
                                             const std::vector<unsigned>& selected) {
  std::vector<Application> out;
  for (const unsigned number : selected)
    if (std::ranges::find(out, number, &Application::number) == out.end())
      if (const auto app = application(image, number)) out.push_back(*app);
  if (!out.empty()) return out;
  if (const auto first = application(image, 1)) out.push_back(*first);
  return out;
}

unsigned extent(const std::vector<unsigned>& starts, unsigned lanes) {
  const unsigned behind_last = *std::ranges::max_element(starts) + lanes;
  const auto together = static_cast<unsigned>(starts.size()) * lanes;
  return std::min(kLanesPerBank, std::max(behind_last, together));
}

/// Number of its data paths in use; for the only application, the number it has.
std::size_t count_of(const std::vector<unsigned>& selected, const Application& app, bool only) {
  if (only) return app.host_starts.size() * selected.size() / kLanesPerBank;
  const auto lanes = static_cast<std::size_t>(std::ranges::count(selected, app.number));
  return std::max<std::size_t>(1, lanes / app.host_lanes);
}

std::string name_of(std::uint8_t media_type, const Application& app) {
  const std::string_view media = media_interface(media_type, app.media_id).name;
  return std::string(media.empty() ? host_interface(app.host_id).name : media);
}

}  // namespace

CmisLanes cmis_lanes(const ModuleImage& image, bool optical) {
  CmisLanes out;
  const std::vector<unsigned> selected = selected_applications(image);
  const std::vector<Application> apps = applications_in_use(image, selected);
  if (apps.empty()) return out;
  for (const Application& app : apps) {
    out.host_per_bank = std::max(out.host_per_bank, extent(app.host_starts, app.host_lanes));
    out.media_per_bank = std::max(out.media_per_bank, extent(app.media_starts, app.media_lanes));
    const std::size_t count = count_of(selected, app, apps.size() == 1);
    const std::string name = name_of(lower_page(image).code(85), app);
    if (name.empty()) continue;
    out.type += (out.type.empty() ? "" : " + ") +
                (count == 1 && apps.size() == 1 ? name : fmt::format("{}x{}", count, name));
  }
  // A lane in use belongs to the module even if its application's descriptor does not include it.
  for (unsigned lane = 0; lane < selected.size(); ++lane)
    if (selected[lane] != 0)
      out.host_per_bank = std::max(out.host_per_bank, lane % kLanesPerBank + 1);
  if (!optical) out.media_per_bank = out.host_per_bank;
  const unsigned most = form_factor_lanes(module_head(image).identifier);
  if (most != 0) {
    out.host_per_bank = std::min(out.host_per_bank, most);
    out.media_per_bank = std::min(out.media_per_bank, most);
  }

  for (std::size_t bank = 0; bank < selected.size() / kLanesPerBank; ++bank)
    for (const Application& app : apps)
      for (std::size_t n = 0; n < std::min(app.host_starts.size(), app.media_starts.size()); ++n) {
        const std::size_t host = bank * kLanesPerBank + app.host_starts[n];
        const unsigned media = optical ? app.media_starts[n] : app.host_starts[n];
        out.data_paths.push_back({host, app.host_lanes, bank * out.media_per_bank + media,
                                  optical ? app.media_lanes : app.host_lanes,
                                  selected.at(host) == app.number});
      }
  std::stable_partition(out.data_paths.begin(), out.data_paths.end(),
                        [](const DataPath& path) { return path.in_use; });
  return out;
}

}  // namespace linkhealth
