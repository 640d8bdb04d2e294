// Measures the diagnosis: simulates labelled cases (or reads labelled recordings), runs the engine
// on them and prints the figures of docs/accuracy.md.
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "storage/recording/recording.h"
#include "tests/sim/degrade.h"
#include "tests/sim/scenario.h"
#include "tests/sim/score.h"
#include "tests/sim/truth_file.h"

namespace linkhealth::sim {
namespace {

struct Options {
  std::vector<CaseSet> sets;
  std::uint64_t seed = 1;
  std::uint64_t cases = 300;
  std::string fault, scene, write_to, recordings, only;
  std::size_t examples = 3;
  bool verbose = false;
  bool outcomes = false;
  std::vector<const Degrade*> degrade = {find_degrade("nothing")};
};

constexpr const char* kUsage =
    "accuracy [--set field|hard|healthy]… [--seed N] [--cases N] [--fault NAME] [--scene NAME] "
    "[--examples N] [--verbose] "
    "[--outcomes]\n"
    "         [--write DIR]        write the cases as recordings with truth.json, and judge "
    "nothing\n"
    "         [--recordings DIR [--only NAME]]   judge the labelled recordings of DIR\n"
    "         [--degrade KIND|all] take away what another driver, cadence or operator would not "
    "give\n";

std::optional<Options> parse(const std::vector<std::string>& args) {
  Options out;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i] == "--verbose" || args[i] == "--outcomes") {
      (args[i] == "--verbose" ? out.verbose : out.outcomes) = true;
      continue;
    }
    if (i + 1 >= args.size()) return std::nullopt;
    const std::string& name = args[i];
    const std::string& value = args[++i];
    const auto number = parse_u64(value);
    if (name == "--set") {
      const auto set = parse_case_set(value);
      if (!set) return std::nullopt;
      out.sets.push_back(*set);
    } else if (name == "--seed" && number) {
      out.seed = *number;
    } else if (name == "--cases" && number) {
      out.cases = *number;
    } else if (name == "--examples" && number) {
      out.examples = *number;
    } else if (name == "--degrade" && value == "all") {
      out.degrade.clear();
      for (const Degrade& row : degrade_table()) out.degrade.push_back(&row);
    } else if (name == "--degrade" && find_degrade(value) != nullptr) {
      out.degrade = {find_degrade(value)};
    } else if (name == "--fault") {
      out.fault = value;
    } else if (name == "--scene") {
      out.scene = value;
    } else if (name == "--write") {
      out.write_to = value;
    } else if (name == "--only") {
      out.only = value;
    } else if (name == "--recordings") {
      out.recordings = value;
    } else {
      return std::nullopt;
    }
  }
  if (out.sets.empty()) out.sets = {CaseSet::kField, CaseSet::kHard, CaseSet::kHealthy};
  return out;
}

void print_evidence(const FaultReport& fault) {
  for (const Evidence& evidence : fault.evidence) {
    fmt::print("      {} {} {} {} {} {} {} [{}] {}\n", evidence.supports ? "+" : "-",
               evidence.symptom, evidence.observed ? fmt::format("{:.4g}", *evidence.observed) : "",
               evidence.op, evidence.threshold ? fmt::format("{:.4g}", *evidence.threshold) : "",
               evidence.unit, evidence.where, evidence.source,
               evidence.text.empty() ? "" : " " + evidence.text);
  }
  for (const Candidate& candidate : fault.differential)
    fmt::print("      ? {}/{} {:.3f}\n", candidate.fault, to_string(candidate.end),
               candidate.confidence);
}

void print_last(const Report& report) {
  for (const PortReport& port : report.ports) {
    for (const FaultReport& fault : port.faults) {
      fmt::print("  {} {}/{} {:.2f} {}: {}\n", port.port, fault.fault, to_string(fault.end),
                 fault.confidence, to_string(fault.state), fault.summary);
      print_evidence(fault);
      for (const SymptomVerdict& seen : port.symptoms)
        if (seen.verdict != "absent")
          fmt::print("      {} {} {}\n", seen.symptom, seen.verdict, seen.reason);
    }
  }
}

void print_events(const Engine::Step& step) {
  for (const FaultEvent& event : step.events) {
    fmt::print("{:9.1f} {:<12} {} {}/{} {:.2f}  {}\n", steady_seconds(event.t),
               to_string(event.kind), event.port, event.fault.fault, to_string(event.fault.end),
               event.fault.confidence, event.fault.summary);
    if (event.kind == FaultEventKind::kOpened) print_evidence(event.fault);
  }
}

/// One line if several kinds are compared, otherwise everything.
void print_score(const Degrade& kind, const Options& options, const Score& score) {
  if (options.outcomes)
    for (const Outcome& out : score.outcomes())
      fmt::print("{} {} {} {} {} far {} delay {} said {} {:.2f} {} first {} {}\n", out.case_name,
                 out.port, out.truth.fault, out.truth.severity,
                 out.truth.note.empty() ? "-" : out.truth.note, out.truth.far_level,
                 out.delay_s ? fmt::format("{:.0f}", *out.delay_s) : "-", out.said, out.confidence,
                 out.right ? "right" : "wrong", out.first_said.empty() ? "-" : out.first_said,
                 out.first_right ? "right" : "wrong");
  if (options.degrade.size() == 1) {
    fmt::print("{}", score.text(options.examples));
    return;
  }
  fmt::print(
      "{:<18} right {:.3f}  first three {:.3f}  end {:.3f}  wrong and sure {:2}  false {:2}  "
      "calibration {:.3f}  {}\n",
      kind.name, score.share(&Outcome::right), score.share(&Outcome::in_first_three),
      score.share(&Outcome::end_right), score.confidently_wrong(), score.false_diagnoses().size(),
      score.calibration_error(), kind.meaning);
}

/// At most half an hour before the first fault.
double late_start_s(const std::map<PortKey, Truth>& truth) {
  double first = 1e18;
  for (const auto& [port, row] : truth)
    if (row.onset_s) first = std::min(first, *row.onset_s);
  return first > 1e17 ? 0 : first - 1800;
}

/// Runs the engine on the snapshots that `next` returns, until nullopt.
template <typename Next>
void judge_case(const std::string& name, RecordingHeader header,
                const std::map<PortKey, Truth>& truth, Next next, const Degrade& kind, bool verbose,
                Score& score) {
  Degrader degrader(kind, late_start_s(truth));
  degrader.header(header);
  Engine engine = engine_for(header);
  score.begin_case(name, truth);
  std::shared_ptr<const Report> last;
  while (std::optional<Snapshot> snapshot = next()) {
    const auto degraded = degrader.apply(*std::move(snapshot));
    if (!degraded) continue;
    const Engine::Step step = engine.step(*degraded);
    score.step(step, steady_seconds(degraded->taken_at));
    last = step.report;
    if (verbose) print_events(step);
  }
  if (!last) return;
  score.end_case();
  if (verbose) print_last(*last);
}

void run_case(const CaseSpec& spec, const Options& options, const Degrade& kind, Score& score) {
  Simulation simulation(spec);
  const auto next = [&simulation] {
    std::optional<Snapshot> snapshot(std::in_place);
    if (!simulation.next(*snapshot)) snapshot.reset();
    return snapshot;
  };
  judge_case(fmt::format("{}:{}", to_string(spec.set), spec.seed), simulation.header(),
             simulation.truth(), next, kind, options.verbose, score);
  if (!options.verbose) return;
  for (const auto& [port, truth] : simulation.truth()) {
    fmt::print("truth {} {}/{} onset {:.0f} {} {} {} far {}\n", port, truth.fault,
               to_string(truth.end), truth.onset_s.value_or(-1), truth.severity, truth.note,
               truth.medium, truth.far_level);
    for (const Answer& answer : truth.also_accept)
      fmt::print("   or {}/{}\n", answer.fault, to_string(answer.end));
  }
}

Result<void> write_cases(const Options& options) {
  TruthFile truth;
  for (const CaseSet set : options.sets) {
    for (std::uint64_t i = 0; i < options.cases; ++i) {
      Simulation simulation({set, options.seed + i, options.fault});
      const std::string name = fmt::format("{}-{:04}.jsonl.gz", to_string(set), options.seed + i);
      auto writer = RecordingWriter::create(
          (std::filesystem::path(options.write_to) / name).string(), simulation.header());
      if (!writer) return writer.error();
      Snapshot snapshot;
      while (simulation.next(snapshot))
        if (auto done = writer.value().write(snapshot); !done) return done;
      if (auto done = writer.value().close(); !done) return done;
      truth[name] = simulation.truth();
    }
  }
  return write_truth_file((std::filesystem::path(options.write_to) / "truth.json").string(), truth);
}

Result<void> score_recording(const std::filesystem::path& file,
                             const std::map<PortKey, Truth>& truth, const Degrade& kind,
                             bool verbose, Score& score) {
  auto reader = RecordingReader::open(file.string());
  if (!reader) return reader.error();
  const auto header = reader->header();
  if (!header) return header.error();
  std::optional<Error> error;
  const auto next = [&]() -> std::optional<Snapshot> {
    auto snapshot = reader->next();
    if (!snapshot) error = snapshot.error();
    return snapshot ? *std::move(snapshot) : std::nullopt;
  };
  judge_case(file.filename().string(), *header, truth, next, kind, verbose, score);
  if (error) return *error;
  return {};
}

Result<void> score_recordings(const Options& options) {
  const std::filesystem::path folder(options.recordings);
  const auto truth = read_truth_file((folder / "truth.json").string());
  if (!truth) return truth.error();
  for (const Degrade* kind : options.degrade) {
    Score score;
    for (const auto& [name, ports] : truth.value()) {
      if (!options.only.empty() && name != options.only) continue;
      if (auto done = score_recording(folder / name, ports, *kind, options.verbose, score); !done)
        return done;
    }
    print_score(*kind, options, score);
  }
  return {};
}

int run(const std::vector<std::string>& args) {
  const auto options = parse(args);
  if (!options) {
    fmt::print(stderr, "{}", kUsage);
    return 2;
  }
  if (!options->write_to.empty() || !options->recordings.empty()) {
    const auto done =
        options->recordings.empty() ? write_cases(*options) : score_recordings(*options);
    if (!done) fmt::print(stderr, "accuracy: {}\n", done.error().message);
    return done ? 0 : 1;
  }
  for (const CaseSet set : options->sets) {
    fmt::print("== {}: {} cases from seed {}\n", to_string(set), options->cases, options->seed);
    for (const Degrade* kind : options->degrade) {
      Score score;
      for (std::uint64_t i = 0; i < options->cases; ++i)
        run_case({set, options->seed + i, options->fault, 0, false, options->scene}, *options,
                 *kind, score);
      print_score(*kind, *options, score);
    }
  }
  return 0;
}

}  // namespace
}  // namespace linkhealth::sim

int main(int argc, char** argv) {
  return linkhealth::sim::run(std::vector<std::string>(argv + 1, argv + argc));
}
