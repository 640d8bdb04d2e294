#include "cli/what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <tuple>

#include "base/text.h"
#include "daemon/engine.h"
#include "exporters/text_layout.h"
#include "model/json.h"
#include "storage/recording.h"

namespace linkhealth {

namespace {

constexpr double kSameTime_s = 0.5;

std::string path_of(const KnobGroup& group, const Knob& knob) {
  return fmt::format("{}{}{}.{}", group.section, group.section.empty() ? "" : ".", group.name,
                     knob.name);
}

bool same(const Course& a, const Course& b) {
  const auto near = [](SteadyTime x, SteadyTime y) {
    return std::abs(in_seconds(x - y)) < kSameTime_s;
  };
  return near(a.opened, b.opened) && a.closed.has_value() == b.closed.has_value() &&
         (!a.closed || near(*a.closed, *b.closed));
}

std::string words(const std::optional<Course>& course) {
  if (!course) return "nothing";
  return fmt::format("{} ({}, {}), from {}{}", name_words(course->fault), to_string(course->end),
                     confidence_words(course->confidence), instant_words(course->opened_at),
                     course->closed
                         ? fmt::format(" for {}", duration_words(*course->closed - course->opened))
                         : ", open at the end");
}

/// "4 min later", "closed 2 h earlier"
std::string shift_words(const CourseChange& change) {
  if (!change.now || !change.then) return {};
  const auto moved = [](Milliseconds by) {
    return fmt::format("{} {}", duration_words(by < Milliseconds(0) ? -by : by),
                       by < Milliseconds(0) ? "earlier" : "later");
  };
  std::string text;
  const Milliseconds opened = change.then->opened - change.now->opened;
  if (std::abs(in_seconds(opened)) >= kSameTime_s) text = "opened " + moved(opened);
  if (change.now->closed && change.then->closed) {
    const Milliseconds closed = *change.then->closed - *change.now->closed;
    if (std::abs(in_seconds(closed)) >= kSameTime_s)
      text += (text.empty() ? "closed " : ", closed ") + moved(closed);
  } else if (change.now->closed.has_value() != change.then->closed.has_value()) {
    text += text.empty() ? "" : ", ";
    text += change.then->closed ? "closes" : "stays open";
  }
  return text;
}

void put_course(OrderedJson& json, std::string_view key, const std::optional<Course>& course) {
  if (!course) return;
  OrderedJson& out = json[key];
  out["fault"] = course->fault;
  out["end"] = to_string(course->end);
  out["confidence"] = course->confidence;
  out["opened_at"] = format_rfc3339(course->opened_at);
  if (course->closed) out["closed_after_s"] = in_seconds(*course->closed - course->opened);
}

std::string as_json(const std::vector<CourseChange>& changes, std::size_t total,
                    const std::vector<std::string>& turns) {
  OrderedJson json;
  json["schema"] = "linkhealth.what_if/1";
  json["what_if"] = turns;
  json["diagnoses"] = total;
  json["changes"] = OrderedJson::array();
  for (const CourseChange& change : changes) {
    OrderedJson out;
    out["port"] = (change.now ? change.now : change.then)->port;
    put_course(out, "now", change.now);
    put_course(out, "then", change.then);
    json["changes"].push_back(std::move(out));
  }
  return format_json(json) + "\n";
}

std::string as_text(const std::vector<CourseChange>& changes, std::size_t total,
                    const std::vector<std::string>& turns) {
  std::string text = "What if";
  for (const std::string& turn : turns) text += " " + turn;
  text += "\n";
  for (const CourseChange& change : changes) {
    text += fmt::format("\n  {}\n    now   {}\n    then  {}\n",
                        (change.now ? change.now : change.then)->port, words(change.now),
                        words(change.then));
    if (const std::string shift = shift_words(change); !shift.empty())
      text += fmt::format("          {}\n", shift);
  }
  const auto gone =
      std::count_if(changes.begin(), changes.end(), [](const auto& c) { return !c.then; });
  const auto fresh =
      std::count_if(changes.begin(), changes.end(), [](const auto& c) { return !c.now; });
  const auto moved = static_cast<std::ptrdiff_t>(changes.size()) - gone - fresh;
  text += changes.empty()
              ? fmt::format("\nNothing changes: {} diagnos{} as now.\n", total,
                            total == 1 ? "is" : "es")
              : fmt::format("\n{} of {} diagnoses would be gone, {} new, {} at another time.\n",
                            gone, total, fresh, moved);
  return text;
}

/// Both engines over one reading of the file.
Result<std::pair<CourseBook, CourseBook>> fold_twice(RecordingReader& recording,
                                                     const EngineSettings& now,
                                                     const EngineSettings& then) {
  Engine as_is(now), turned(then);
  std::pair<CourseBook, CourseBook> books;
  for (;;) {
    auto snapshot = recording.next();
    if (!snapshot) return snapshot.error();
    if (!*snapshot) return books;
    for (const FaultEvent& event : as_is.step(**snapshot).events) books.first.add(event);
    for (const FaultEvent& event : turned.step(**snapshot).events) books.second.add(event);
  }
}

}  // namespace

Result<void> turn_knob(KnobTable& knobs, std::string_view key_and_value) {
  const auto equals = key_and_value.find('=');
  if (equals == std::string_view::npos)
    return Error{fmt::format("\"{}\": say KEY=VALUE, such as symptoms.carrier_flaps.min_losses=6",
                             printable(key_and_value))};
  const std::string_view key = trim(key_and_value.substr(0, equals));
  const auto value = parse_double(trim(key_and_value.substr(equals + 1)));
  if (!value) return Error{fmt::format("\"{}\": not a number", printable(key_and_value))};
  std::vector<std::string> paths;
  std::vector<std::pair<std::string_view, std::string_view>> short_for;
  for (const KnobGroup& group : knobs.groups())
    for (const Knob& knob : group.knobs) {
      const std::string path = path_of(group, knob);
      if (path == key) return knobs.set(group.name, knob.name, *value);
      if (path.ends_with(fmt::format(".{}", key))) short_for.emplace_back(group.name, knob.name);
      paths.push_back(path);
    }
  if (short_for.size() == 1)
    return knobs.set(short_for.front().first, short_for.front().second, *value);
  if (short_for.size() > 1)
    return Error{fmt::format(
        "\"{}\" is the name of {} knobs: give the whole key (linkhealth rules lists them)",
        printable(key), short_for.size())};
  std::string text = fmt::format("unknown key \"{}\"", printable(key));
  const std::vector<std::string_view> names(paths.begin(), paths.end());
  if (const auto meant = closest(key, names))
    text += fmt::format(" (did you mean \"{}\"?)", *meant);
  return Error{text + ": linkhealth rules lists them"};
}

void CourseBook::add(const FaultEvent& event) {
  const FaultReport& fault = event.fault;
  const auto open = std::find_if(courses_.rbegin(), courses_.rend(), [&](const Course& course) {
    return course.port == event.port && course.fault == fault.fault && course.end == fault.end &&
           !course.closed;
  });
  if (open != courses_.rend()) {
    open->confidence = std::max(open->confidence, fault.confidence);
    if (event.kind == FaultEventKind::kClosed) open->closed = event.t;
    return;
  }
  if (event.kind == FaultEventKind::kClosed) return;
  courses_.push_back(
      {event.port, fault.fault, fault.end, event.t, event.at, std::nullopt, fault.confidence});
}

std::vector<CourseChange> compare_courses(const std::vector<Course>& now,
                                          const std::vector<Course>& then) {
  std::vector<CourseChange> changes;
  std::vector<bool> used(then.size(), false);
  for (const Course& course : now) {
    std::size_t i = 0;
    while (i < then.size() && (used[i] || then[i].port != course.port ||
                               then[i].fault != course.fault || then[i].end != course.end))
      ++i;
    if (i == then.size()) {
      changes.push_back({course, std::nullopt});
      continue;
    }
    used[i] = true;
    if (!same(course, then[i])) changes.push_back({course, then[i]});
  }
  for (std::size_t i = 0; i < then.size(); ++i)
    if (!used[i]) changes.push_back({std::nullopt, then[i]});
  const auto first = [](const CourseChange& change) -> const Course& {
    return change.now ? *change.now : *change.then;
  };
  std::stable_sort(
      changes.begin(), changes.end(), [&first](const CourseChange& a, const CourseChange& b) {
        return std::tie(first(a).port, first(a).opened) < std::tie(first(b).port, first(b).opened);
      });
  return changes;
}

int what_if(const ReplayOptions& options, const std::vector<std::string>& turns, std::ostream& out,
            std::ostream& err) {
  const auto refuse = [&err](const std::string& message) {
    err << "linkhealth: " << message << '\n';
    return 2;
  };
  auto recording = RecordingReader::open(options.recording);
  if (!recording) return refuse(recording.error().message);
  const auto header = recording->header();
  if (!header) return refuse(header.error().message);
  const EngineSettings now = replay_settings(*header, options.config);
  EngineSettings then = now;
  for (const std::string& turn : turns)
    if (const auto turned = turn_knob(then.knobs, turn); !turned)
      return refuse("--what-if: " + turned.error().message);
  const auto books = fold_twice(*recording, now, then);
  if (!books) return refuse(books.error().message);
  if (!recording->warning().empty()) err << "linkhealth: " << recording->warning() << '\n';
  const auto changes = compare_courses(books->first.courses(), books->second.courses());
  const std::size_t total = books->first.courses().size();
  out << (options.format == ReplayFormat::kText ? as_text(changes, total, turns)
                                                : as_json(changes, total, turns));
  out.flush();
  return out ? 0 : refuse("cannot write the result");
}

}  // namespace linkhealth
