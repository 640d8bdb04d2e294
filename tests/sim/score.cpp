#include "tests/sim/score.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace linkhealth::sim {
namespace {

bool is_tolerated(const Truth& truth, std::string_view fault) {
  return std::find(truth.tolerate.begin(), truth.tolerate.end(), fault) != truth.tolerate.end();
}

bool end_is_right(const Truth& truth, End end) {
  if (truth.end == End::kNone || end == truth.end) return true;
  for (const Answer& answer : truth.also_accept)
    if (answer.end == end) return true;
  return false;
}

/// The names that are shown first: the diagnosis, then its differential, then the port's other
/// faults.
std::vector<Candidate> first_names(const PortReport& report) {
  std::vector<Candidate> out;
  const auto add = [&out](const std::string& fault, End end, double confidence) {
    for (const Candidate& known : out)
      if (known.fault == fault && known.end == end) return;
    out.push_back({fault, end, confidence});
  };
  if (report.faults.empty()) return out;
  const FaultReport& first = report.faults.front();
  add(first.fault, first.end, first.confidence);
  for (const Candidate& candidate : first.differential)
    add(candidate.fault, candidate.end, candidate.confidence);
  for (const FaultReport& fault : report.faults) add(fault.fault, fault.end, fault.confidence);
  return out;
}

std::string with_end(const std::string& fault, End end) {
  return end == End::kNone ? fault : fmt::format("{}/{}", fault, to_string(end));
}

}  // namespace

bool is_right(const Truth& truth, std::string_view fault, End end) {
  if (fault == truth.fault && (truth.end == End::kNone || truth.end == end)) return true;
  return std::any_of(truth.also_accept.begin(), truth.also_accept.end(), [&](const Answer& answer) {
    return answer.fault == fault && (answer.end == End::kNone || answer.end == end);
  });
}

void Score::begin_case(std::string name, const std::map<PortKey, Truth>& truth) {
  name_ = std::move(name);
  truth_ = truth;
  first_opened_.clear();
  last_.reset();
  first_t_ = -1;
}

void Score::step(const Engine::Step& step, double t) {
  if (first_t_ < 0) first_t_ = t;
  last_t_ = t;
  last_ = step.report;
  // A rename is a fault that closes in the same step in which another one opens on its port.
  for (const FaultEvent& event : step.events) {
    const auto at = truth_.find(event.port);
    if (at == truth_.end()) continue;
    if (const auto first = first_opened_.find(event.port);
        event.kind == FaultEventKind::kClosed && first != first_opened_.end())
      note_rename(step.events, event, first->second);
    if (event.kind == FaultEventKind::kOpened || event.kind == FaultEventKind::kReopened)
      note_event(event, at->second, t);
  }
}

namespace {

std::vector<Candidate> names_told(const FaultReport& fault) {
  std::vector<Candidate> names;
  if (fault.undecided) names = fault.undecided->names;
  names.push_back({fault.fault, fault.end, fault.confidence});
  return names;
}

}  // namespace

void Score::note_rename(const std::vector<FaultEvent>& events, const FaultEvent& closed,
                        First& first) {
  const auto opened = std::ranges::find_if(events, [&closed](const FaultEvent& other) {
    return other.kind != FaultEventKind::kClosed && other.port == closed.port &&
           other.fault.id != closed.fault.id;
  });
  if (opened == events.end()) return;
  const bool was_told = std::ranges::any_of(first.told, [&opened](const Candidate& name) {
    return name.fault == opened->fault.fault && name.end == opened->fault.end;
  });
  if (was_told) return;
  ++first.renames;
  first.told = names_told(opened->fault);
}

void Score::note_event(const FaultEvent& event, const Truth& truth, double t) {
  const FaultReport& fault = event.fault;
  if (truth.fault != "healthy") {
    // The right name before the onset (a slow decline noticed early) is not a delay.
    const bool early = is_right(truth, fault.fault, fault.end);
    if (truth.onset_s && (early || t >= *truth.onset_s - 1))
      first_opened_.try_emplace(event.port, First{t, fault.fault, fault.end, 0, names_told(fault)});
    return;
  }
  if (event.kind == FaultEventKind::kReopened || is_tolerated(truth, fault.fault)) return;
  false_.push_back({name_, event.port, truth, t, with_end(fault.fault, fault.end), fault.confidence,
                    fault.summary});
}

void Score::end_case() {
  for (const auto& [key, truth] : truth_) {
    if (truth.fault == "healthy") healthy_port_s_ += last_t_ - first_t_;
    const auto report =
        std::find_if(last_->ports.begin(), last_->ports.end(),
                     [&key = key](const PortReport& port) { return port.port == key; });
    PortReport none;
    none.port = key;
    judge(report == last_->ports.end() ? none : *report, truth);
  }
}

void Score::judge(const PortReport& report, const Truth& truth) {
  const std::vector<Candidate> names = first_names(report);
  const auto count = [this](double confidence, bool right, bool very_name) {
    const auto index =
        std::min<std::size_t>(9, static_cast<std::size_t>(std::max(0.0, confidence) * 10.0));
    for (auto [bins, hit] : {std::pair(&bins_, right), std::pair(&strict_bins_, very_name)}) {
      Bin& bin = (*bins)[index];
      ++bin.count;
      bin.right += hit ? 1 : 0;
      bin.confidence += confidence;
    }
  };
  if (truth.fault == "healthy") {
    if (!names.empty() && report.faults.front().state == FaultState::kOpen &&
        !is_tolerated(truth, names[0].fault)) {
      count(names[0].confidence, false, false);
    }
    return;
  }
  Outcome out;
  out.case_name = name_;
  out.port = report.port;
  out.truth = truth;
  if (!names.empty()) {
    out.said = names[0].fault;
    out.said_id = report.faults.front().id;
    out.said_end = names[0].end;
    out.confidence = names[0].confidence;
    out.right = is_right(truth, out.said, out.said_end);
    out.end_right = out.right || end_is_right(truth, out.said_end);
    for (std::size_t i = 0; i < std::min<std::size_t>(3, names.size()); ++i)
      out.in_first_three = out.in_first_three || is_right(truth, names[i].fault, names[i].end);
    out.very_name =
        out.said == truth.fault && (truth.end == End::kNone || out.said_end == truth.end);
    count(out.confidence, out.right, out.very_name);
  }
  for (const FaultReport& fault : report.faults)
    out.second_found = out.second_found || fault.fault == truth.second;
  const auto opened = first_opened_.find(report.port);
  if (opened != first_opened_.end()) {
    const First& first = opened->second;
    out.first_said = with_end(first.fault, first.end);
    out.first_right = is_right(truth, first.fault, first.end);
    out.renames = first.renames;
    if (truth.onset_s && *truth.onset_s > 0) out.delay_s = std::max(0.0, first.t - *truth.onset_s);
  }
  outcomes_.push_back(std::move(out));
}

double Score::false_per_1000_port_days() const {
  return healthy_port_s_ > 0 ? 1000.0 * static_cast<double>(false_.size()) / healthy_port_days()
                             : 0.0;
}

double Score::share(bool Outcome::*what) const {
  if (outcomes_.empty()) return 0;
  const auto count = std::count_if(outcomes_.begin(), outcomes_.end(),
                                   [what](const Outcome& out) { return out.*what; });
  return static_cast<double>(count) / static_cast<double>(outcomes_.size());
}

double Score::first_name_right() const {
  double opened = 0, right = 0;
  for (const Outcome& out : outcomes_) {
    opened += !out.first_said.empty();
    right += out.first_right;
  }
  return opened > 0 ? right / opened : 0;
}

double Score::renamed() const {
  double opened = 0, renames = 0;
  for (const Outcome& out : outcomes_) {
    opened += !out.first_said.empty();
    renames += static_cast<double>(out.renames);
  }
  return opened > 0 ? renames / opened : 0;
}

std::pair<std::size_t, std::size_t> Score::shared_told_once() const {
  std::map<std::string, std::set<std::string>> told;
  for (const Outcome& out : outcomes_)
    if (!out.truth.shared.empty())
      told[out.case_name + out.truth.shared].insert(out.said_id.empty() ? out.port : out.said_id);
  const auto once =
      std::ranges::count_if(told, [](const auto& row) { return row.second.size() == 1; });
  return {static_cast<std::size_t>(once), told.size()};
}

std::size_t Score::wrongly_shared() const {
  std::map<std::string, std::set<std::string>> own;  // ports, by case and fault
  for (const Outcome& out : outcomes_)
    if (out.truth.severity == "by itself" && !out.said_id.empty())
      own[out.case_name + out.said_id].insert(out.port);
  return static_cast<std::size_t>(
      std::ranges::count_if(own, [](const auto& row) { return row.second.size() > 1; }));
}

double Score::calibration_error(const Bins& bins) {
  double error = 0;
  std::size_t total = 0;
  for (const Bin& bin : bins) {
    error += std::abs(bin.confidence - static_cast<double>(bin.right));
    total += bin.count;
  }
  return total > 0 ? error / static_cast<double>(total) : 0.0;
}

std::optional<double> Score::delay_s(bool down, double quantile) const {
  std::vector<double> delays;
  for (const Outcome& out : outcomes_)
    if (out.truth.link_down == down && out.delay_s) delays.push_back(*out.delay_s);
  if (delays.empty()) return std::nullopt;
  std::sort(delays.begin(), delays.end());
  return delays[std::min(delays.size() - 1,
                         static_cast<std::size_t>(quantile * static_cast<double>(delays.size())))];
}

std::size_t Score::confidently_wrong() const {
  return static_cast<std::size_t>(
      std::count_if(outcomes_.begin(), outcomes_.end(), [](const Outcome& out) {
        return !out.right && out.said != "nothing" && out.confidence >= 0.8;
      }));
}

std::string Score::text(std::size_t examples) const {
  std::string out;
  if (!outcomes_.empty()) {
    out += fmt::format("faulty ports                       {}\n", outcomes_.size());
    out += fmt::format("right at the top                   {:.3f}\n", share(&Outcome::right));
    out +=
        fmt::format("among the first three              {:.3f}\n", share(&Outcome::in_first_three));
    out += fmt::format("the end right                      {:.3f}\n", share(&Outcome::end_right));
    out += fmt::format("first name right                   {:.3f}\n", first_name_right());
    out += fmt::format("renames for each fault             {:.3f}\n", renamed());
    for (const bool down : {true, false}) {
      if (const auto median = delay_s(down, 0.5)) {
        out += fmt::format("delay, {:<12} median / p90    {:.0f} s / {:.0f} s\n",
                           down ? "link down" : "degradation", *median, *delay_s(down, 0.9));
      }
    }
    if (const auto [once, all] = shared_told_once(); all > 0)
      out += fmt::format("shared faults told once            {} of {}\n", once, all);
    if (const std::size_t wrongly = wrongly_shared(); wrongly > 0)
      out += fmt::format("own faults told as one             {}\n", wrongly);
    std::size_t two = 0;
    std::size_t found = 0;
    for (const Outcome& outcome : outcomes_) {
      two += outcome.truth.second.empty() ? 0 : 1;
      found += !outcome.truth.second.empty() && outcome.second_found ? 1 : 0;
    }
    if (two > 0) out += fmt::format("second fault also found            {} of {}\n", found, two);
  }
  out += fmt::format(
      "false diagnoses                    {} in {:.1f} healthy port-days: {:.2f} per 1,000\n",
      false_.size(), healthy_port_days(), false_per_1000_port_days());
  out += fmt::format("calibration error                  {:.3f}\n", calibration_error());
  out += fmt::format("strict calibration error           {:.3f}\n", strict_calibration_error());
  for (std::size_t i = 0; i < bins_.size(); ++i) {
    const Bin& bin = bins_[i];
    if (bin.count == 0) continue;
    const auto n = static_cast<double>(bin.count);
    out += fmt::format("  said {:.2f}  right {:.2f}  the very name {:.2f}  n {}\n",
                       bin.confidence / n, static_cast<double>(bin.right) / n,
                       static_cast<double>(strict_bins_[i].right) / n, bin.count);
  }
  struct Row {
    std::size_t count = 0, right = 0, three = 0, end = 0;
    std::vector<double> delays;
  };
  std::map<std::string, Row> rows;
  std::map<std::string, std::vector<std::string>> confusions;
  for (const Outcome& outcome : outcomes_) {
    Row& row = rows[outcome.truth.fault];
    ++row.count;
    row.right += outcome.right ? 1 : 0;
    row.three += outcome.in_first_three ? 1 : 0;
    row.end += outcome.end_right ? 1 : 0;
    if (outcome.delay_s) row.delays.push_back(*outcome.delay_s);
    if (outcome.right) continue;
    const std::string what =
        fmt::format("{} -> {}", with_end(outcome.truth.fault, outcome.truth.end),
                    with_end(outcome.said, outcome.said_end));
    confusions[what].push_back(fmt::format("{} {} ({} {} {}, far level {}, said {:.2f})",
                                           outcome.case_name, outcome.port, outcome.truth.medium,
                                           outcome.truth.severity, outcome.truth.note,
                                           outcome.truth.far_level, outcome.confidence));
  }
  if (!rows.empty())
    out += fmt::format("{:<22}{:>6}{:>8}{:>8}{:>8}{:>10}\n", "fault", "n", "right", "first 3",
                       "end", "delay s");
  for (auto& [fault, row] : rows) {
    const auto n = static_cast<double>(row.count);
    std::sort(row.delays.begin(), row.delays.end());
    out += fmt::format(
        "{:<22}{:>6}{:>8.2f}{:>8.2f}{:>8.2f}{:>10}\n", fault, row.count,
        static_cast<double>(row.right) / n, static_cast<double>(row.three) / n,
        static_cast<double>(row.end) / n,
        row.delays.empty() ? "" : fmt::format("{:.0f}", row.delays[row.delays.size() / 2]));
  }
  std::vector<std::pair<std::string, std::vector<std::string>>> ordered(confusions.begin(),
                                                                        confusions.end());
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const auto& a, const auto& b) { return a.second.size() > b.second.size(); });
  for (const auto& [what, cases] : ordered) {
    out += fmt::format("{:>4}  {}\n", cases.size(), what);
    for (std::size_t i = 0; i < std::min(examples, cases.size()); ++i)
      out += "        " + cases[i] + "\n";
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(examples * 10, false_.size()); ++i) {
    const FalseDiagnosis& wrong = false_[i];
    out += fmt::format("false {} {} at {:.0f} s: {} {:.2f} ({}): {}\n", wrong.case_name, wrong.port,
                       wrong.t, wrong.said, wrong.confidence, wrong.truth.medium, wrong.summary);
  }
  return out;
}

}  // namespace linkhealth::sim
