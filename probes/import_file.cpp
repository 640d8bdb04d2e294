#include "probes/import_file.h"

#include <fmt/format.h>

#include <utility>

#include "base/text.h"
#include "model/sample_fields.h"
#include "probes/import_judge.h"

namespace linkhealth {

namespace {

/// The file as it is written.
struct FileLine {
  std::string schema;
  std::optional<WallTime> at;
  std::optional<double> valid_for_s;
  std::map<std::string, ImportedPort> ports;
};

}  // namespace

void fields(Is<ImportedPort> auto& port, auto& visit) {
  visit("peer", port.peer);
  visit("module", port.module);
}

void fields(Is<FileLine> auto& file, auto& visit) {
  visit("schema", file.schema);
  visit("at", file.at);
  visit("valid_for_s", file.valid_for_s);
  visit("ports", file.ports);
}

Result<ImportFile> parse_import_file(std::string_view text) {
  JsonReader in(text);
  FileLine read;
  const bool whole = FieldsIn(in).value(read) && in.at_end();
  if (!read.schema.empty() && read.schema != kImportSchema)
    return Error{fmt::format("its format is \"{}\", and this program reads \"{}\"",
                             printable(read.schema).substr(0, 60), kImportSchema)};
  if (!whole) return Error{"not whole or not the format: " + printable(in.error())};
  if (read.schema.empty()) return Error{fmt::format("\"schema\" is missing: write \"{}\"", kImportSchema)};
  if (!read.at) return Error{"\"at\" is missing: when the readings were taken"};
  if (!read.valid_for_s) return Error{"\"valid_for_s\" is missing: for how long the readings hold"};
  if (!(*read.valid_for_s > 0 && *read.valid_for_s <= kMaxImportValidSeconds))
    return Error{"\"valid_for_s\" must be more than 0 and at most a day"};
  if (read.ports.size() > kMaxImportPorts) return Error{fmt::format("more than {} ports", kMaxImportPorts)};
  for (auto& [key, port] : read.ports) {
    if (port.peer && port.peer->source.empty()) port.peer->source = "telemetry";
    if (const std::string why = objection(port); !why.empty())
      return Error{fmt::format("ports > {}: a {}", printable(key).substr(0, 60), why)};
  }
  return ImportFile{*read.at, *read.valid_for_s, std::move(read.ports)};
}

}  // namespace linkhealth
