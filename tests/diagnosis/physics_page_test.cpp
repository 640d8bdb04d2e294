// docs/physics.md is written by people: this test holds it to the program. What the code cites must
// be there, and the numbers that both have must be the same.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "diagnosis/features.h"

namespace linkhealth {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}
const std::string& page() {
  static const std::string kPage = text_of(fs::path(LINKHEALTH_SOURCE_DIR) / "docs/physics.md");
  return kPage;
}

/// The cells of the table's row that begins with `first`.
std::vector<std::string> row(const std::string& first) {
  const auto at = page().find("\n| " + first);
  if (at == std::string::npos) return {};
  std::stringstream line(page().substr(at + 2, page().find('\n', at + 1) - at - 2));
  std::vector<std::string> cells;
  for (std::string cell; std::getline(line, cell, '|');) cells.push_back(cell);
  return cells;
}

double first_number(const std::string& cell) {
  auto at = cell.find_first_of("0123456789");
  if (at == std::string::npos) return -1;
  if (at > 0 && cell[at - 1] == '-') --at;
  return std::strtod(cell.c_str() + at, nullptr);
}

/// "3a" at `at`, which then stands behind it; "" where there is no such thing.
std::string section_at(const std::string& text, std::size_t& at) {
  const auto is = [&text](std::size_t i, std::string_view any) {
    return i < text.size() && any.find(text[i]) != std::string_view::npos;
  };
  if (!is(at, "0123456789") || is(at + 1, "0123456789.")) return "";
  const std::size_t length = is(at + 1, "abcdefg") ? 2 : 1;
  at += length;
  return text.substr(at - length, length);
}

/// "3a" of "docs/physics.md 3a", "docs/physics.md 3a, 3b" and "(docs/physics.md 7a and 7e)".
std::set<std::string> cited(const std::string& text) {
  const std::string page_name = "docs/physics.md ";
  std::set<std::string> found;
  for (auto at = text.find(page_name); at != std::string::npos; at = text.find(page_name, at)) {
    at += page_name.size();
    for (std::string section = section_at(text, at); !section.empty();
         section = section_at(text, at)) {
      found.insert(section);
      for (const std::string_view joint : {", ", " and "})
        if (text.compare(at, joint.size(), joint) == 0) at += joint.size();
    }
  }
  return found;
}

TEST(PhysicsPage, HasWhatTheProgramCites) {
  std::set<std::string> sections;
  for (const char* folder : {"base", "model", "probes", "diagnosis", "daemon", "exporters", "cli",
                             "config", "tests/sim"})
    for (const auto& file :
         fs::recursive_directory_iterator(fs::path(LINKHEALTH_SOURCE_DIR) / folder))
      if (file.is_regular_file()) sections.merge(cited(text_of(file.path())));
  ASSERT_GE(sections.size(), 10U) << "the program cites it no longer?";
  for (const std::string& section : sections) {
    const std::string heading =
        section.size() == 1 ? "\n## " + section + ". " : "\n**" + section + ". ";
    EXPECT_NE(page().find(heading), std::string::npos)
        << "docs/physics.md has no section " << section;
  }
}

TEST(PhysicsPage, HasTheLimitsOfTheFecModes) {
  const auto limit = [](const std::string& first) {
    const auto cells = row(first);
    return cells.size() > 3 ? first_number(cells[3]) : -1;
  };
  EXPECT_EQ(ber_limit("RS544", Medium::kOptical), limit("RS(544,514)"));
  EXPECT_EQ(ber_limit("RS528", Medium::kOptical), limit("RS(528,514)"));
  EXPECT_EQ(ber_limit("LLRS", Medium::kOptical), limit("LL RS(272,257+1)"));
  EXPECT_EQ(ber_limit("BaseR", Medium::kOptical), limit("Firecode"));
  EXPECT_EQ(ber_limit("None", Medium::kOptical), std::nullopt);
  // "copper CR ~1e-4", "1e-5 class for CR4": an equalizer that works hard is not noise that any
  // better signal mends.
  EXPECT_EQ(ber_limit("RS544", Medium::kCopper), 1e-4);
  EXPECT_EQ(ber_limit("RS528", Medium::kCopper), 1e-5);
}

TEST(PhysicsPage, HasTheErrorRatiosThatALossOfLightImplies) {
  const auto margins = row("m dB"), ratios = row("PAM4, no floor");
  ASSERT_EQ(margins.size(), ratios.size());
  const double full_db = first_number(margins[9]),
               full = first_number(ratios[9]);  // at 2 dB of margin
  ASSERT_EQ(full_db, 2);
  for (std::size_t i = 1; i < 9; ++i)
    EXPECT_NEAR(implied_loss_db(full, first_number(ratios[i]), true),
                full_db - first_number(margins[i]), 0.1)
        << margins[i];
}

/// "1.44/h, **125 min**" is no error in 3 / (1e-15 x 400G).
TEST(PhysicsPage, HasTheTimesOfAProof) {
  const auto cells = row("400G | 1440/h");
  ASSERT_GT(cells.size(), 3U);
  EXPECT_NE(cells[3].find("**125 min**"), std::string::npos) << cells[3];
  EXPECT_NEAR(3 / (1e-15 * 400e9) / 60, 125, 0.01);
  EXPECT_EQ(DiagnosisSettings().proof_ber, 1e-15);
}

}  // namespace
}  // namespace linkhealth
