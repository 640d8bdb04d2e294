// Measures the diagnosis: simulates labelled cases (or reads labelled recordings), runs the engine over them and prints
// the figures of docs/accuracy.md.
#include <fmt/format.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "storage/recording.h"
#include "tests/sim/scenario.h"
#include "tests/sim/score.h"
#include "tests/sim/truth_file.h"

namespace linkhealth::sim {
namespace {

struct Options {
  std::vector<CaseSet> sets;
  std::uint64_t seed = 1;
  std::uint64_t cases = 300;
  std::string fault, write_to, recordings;
  std::size_t examples = 3;
  bool verbose = false;
};

constexpr const char* kUsage =
    "accuracy [--set field|hard|healthy]… [--seed N] [--cases N] [--fault NAME] [--examples N] [--verbose]\n"
    "         [--write DIR]        write the cases as recordings with truth.json, and judge nothing\n"
    "         [--recordings DIR]   judge the labelled recordings of DIR\n";

std::optional<Options> parse(const std::vector<std::string>& args) {
  Options out;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (args[i] == "--verbose") {
      out.verbose = true;
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
    } else if (name == "--fault") {
      out.fault = value;
    } else if (name == "--write") {
      out.write_to = value;
    } else if (name == "--recordings") {
      out.recordings = value;
    } else {
      return std::nullopt;
    }
  }
  if (out.sets.empty()) out.sets = {CaseSet::kField, CaseSet::kHard, CaseSet::kHealthy};
  return out;
}

Engine engine_for(const RecordingHeader& header) {
  EngineSettings settings;
  settings.node = header.node;
  settings.knobs = KnobTable(engine_knob_groups());
  settings.expected = header.expected;
  return Engine(std::move(settings));
}

void print_last(const Report& report) {
  for (const PortReport& port : report.ports) {
    for (const FaultReport& fault : port.faults) {
      fmt::print("  {} {}/{} {:.2f} {}: {}\n", port.port, fault.fault, to_string(fault.end), fault.confidence,
                 to_string(fault.state), fault.summary);
      for (const Evidence& evidence : fault.evidence) {
        fmt::print("      {} {} {} {} {} {} [{}] {}{}\n", evidence.supports ? "+" : "-", evidence.symptom,
                   evidence.observed ? fmt::format("{:.4g}", *evidence.observed) : "", evidence.op,
                   evidence.threshold ? fmt::format("{:.4g}", *evidence.threshold) : "", evidence.unit, evidence.where,
                   evidence.source, evidence.text.empty() ? "" : " " + evidence.text);
      }
      for (const Candidate& candidate : fault.differential) {
        fmt::print("      ? {}/{} {:.3f}\n", candidate.fault, to_string(candidate.end), candidate.confidence);
      }
    }
  }
}

void run_case(const CaseSpec& spec, const Options& options, Score& score) {
  Simulation simulation(spec);
  Engine engine = engine_for(simulation.header());
  score.begin_case(fmt::format("{}:{}", to_string(spec.set), spec.seed), simulation.truth());
  Snapshot snapshot;
  std::shared_ptr<const Report> last;
  while (simulation.next(snapshot)) {
    const Engine::Step step = engine.step(snapshot);
    score.step(step, steady_seconds(snapshot.taken_at));
    last = step.report;
    if (!options.verbose) continue;
    for (const FaultEvent& event : step.events) {
      fmt::print("{:9.1f} {:<12} {} {}/{} {:.2f}  {}\n", steady_seconds(event.t), to_string(event.kind), event.port,
                 event.fault.fault, to_string(event.fault.end), event.fault.confidence, event.fault.summary);
    }
  }
  score.end_case();
  if (!options.verbose) return;
  for (const auto& [port, truth] : simulation.truth()) {
    fmt::print("truth {} {}/{} onset {:.0f} {} {} {} far {}\n", port, truth.fault, to_string(truth.end),
               truth.onset_s.value_or(-1), truth.severity, truth.note, truth.medium, truth.far_level);
    for (const Answer& answer : truth.also_accept) fmt::print("   or {}/{}\n", answer.fault, to_string(answer.end));
  }
  if (last) print_last(*last);
}

Result<void> write_cases(const Options& options) {
  TruthFile truth;
  for (const CaseSet set : options.sets) {
    for (std::uint64_t i = 0; i < options.cases; ++i) {
      Simulation simulation({set, options.seed + i, options.fault});
      const std::string name = fmt::format("{}-{:04}.jsonl.gz", to_string(set), options.seed + i);
      auto writer =
          RecordingWriter::create((std::filesystem::path(options.write_to) / name).string(), simulation.header());
      if (!writer) return writer.error();
      Snapshot snapshot;
      while (simulation.next(snapshot)) {
        if (auto done = writer.value().write(snapshot); !done) return done;
      }
      if (auto done = writer.value().close(); !done) return done;
      truth[name] = simulation.truth();
    }
  }
  return write_truth_file((std::filesystem::path(options.write_to) / "truth.json").string(), truth);
}

Result<void> score_recordings(const Options& options) {
  const std::filesystem::path folder(options.recordings);
  const auto truth = read_truth_file((folder / "truth.json").string());
  if (!truth) return truth.error();
  Score score;
  for (const auto& [name, ports] : truth.value()) {
    auto reader = RecordingReader::open((folder / name).string());
    if (!reader) return reader.error();
    const auto header = reader.value().header();
    if (!header) return header.error();
    Engine engine = engine_for(header.value());
    score.begin_case(name, ports);
    for (;;) {
      auto snapshot = reader.value().next();
      if (!snapshot) return snapshot.error();
      if (!snapshot.value()) break;
      score.step(engine.step(*snapshot.value()), steady_seconds(snapshot.value()->taken_at));
    }
    score.end_case();
  }
  fmt::print("{}", score.text(options.examples));
  return {};
}

int run(const std::vector<std::string>& args) {
  const auto options = parse(args);
  if (!options) {
    fmt::print(stderr, "{}", kUsage);
    return 2;
  }
  if (!options->write_to.empty() || !options->recordings.empty()) {
    const auto done = options->recordings.empty() ? write_cases(*options) : score_recordings(*options);
    if (!done) fmt::print(stderr, "accuracy: {}\n", done.error().message);
    return done ? 0 : 1;
  }
  for (const CaseSet set : options->sets) {
    Score score;
    for (std::uint64_t i = 0; i < options->cases; ++i) {
      run_case({set, options->seed + i, options->fault}, *options, score);
    }
    fmt::print("== {}: {} cases from seed {}\n{}", to_string(set), options->cases, options->seed,
               score.text(options->examples));
  }
  return 0;
}

}  // namespace
}  // namespace linkhealth::sim

int main(int argc, char** argv) { return linkhealth::sim::run(std::vector<std::string>(argv + 1, argv + argc)); }
