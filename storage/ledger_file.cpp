#include "storage/ledger_file.h"

#include "model/report_fields.h"

namespace linkhealth {

namespace {

constexpr std::string_view kSchema = "linkhealth.ledger/1";

struct LedgerDocument {
  std::string schema;
  LedgerState state;
};

/// The state without what moves with every sample.
LedgerState what_matters(LedgerState state) {
  for (LedgerFault& fault : state.faults) {
    fault.last_seen_at = fault.opened_at;
    fault.confidence = 0;
    fault.summary.clear();
    fault.repair.clear();
  }
  return state;
}

}  // namespace

void fields(Is<LedgerFault> auto& fault, auto& visit) {
  visit.always("id", fault.id);
  visit.always("port", fault.port);
  visit.always("fault", fault.fault);
  visit("end", fault.end);
  visit.always("severity", fault.severity);
  visit.always("state", fault.state);
  visit("confidence", fault.confidence);
  visit.always("opened_at", fault.opened_at);
  visit.always("last_seen_at", fault.last_seen_at);
  visit("proving_since", fault.proving_since);
  visit("acknowledged_by", fault.acknowledged_by);
  visit("acknowledged_reason", fault.acknowledged_reason);
  visit("acknowledged_at", fault.acknowledged_at);
  visit("acknowledged_until", fault.acknowledged_until);
  visit("summary", fault.summary);
  visit("verify", fault.verify);
  visit("repair", fault.repair);
}

inline bool parse_word(std::string_view text, RepeatOf& out) {
  return take_word(parse_repeat_of(text), out);
}

void fields(Is<LedgerRepeat> auto& repeat, auto& visit) {
  visit.always("of", repeat.of);
  visit.always("subject", repeat.subject);
  visit.always("fault", repeat.fault);
  visit.always("times", repeat.times);
  visit.always("last_closed_at", repeat.last_closed_at);
}

void fields(Is<RuleUse> auto& use, auto& visit) {
  visit.always("since", use.since);
  visit.always("faults", use.faults);
  visit.always("symptoms", use.symptoms);
}

void fields(Is<LedgerDocument> auto& document, auto& visit) {
  visit.always("schema", document.schema);
  visit("faults", document.state.faults);
  visit("repeats", document.state.repeats);
  visit("repairs", document.state.repairs);
  visit("maintenance", document.state.maintenance);
  visit("maintenance_log", document.state.maintenance_log);
  visit.always("rule_use", document.state.rule_use);
}

std::string ledger_json(const LedgerState& state) {
  return format_fields(LedgerDocument{std::string(kSchema), state});
}

Result<LedgerState> parse_ledger(std::string_view json) {
  auto document = parse_fields<LedgerDocument>(json);
  if (!document) return document.error();
  if (document->schema != kSchema) return Error{"it is not a " + std::string(kSchema)};
  return std::move(document->state);
}

std::string ledger_fault_json(const LedgerFault& fault) { return format_fields(fault); }
Result<LedgerFault> parse_ledger_fault(std::string_view json) {
  return parse_fields<LedgerFault>(json);
}
std::string repair_record_json(const RepairRecord& repair) { return format_fields(repair); }
Result<RepairRecord> parse_repair_record(std::string_view json) {
  return parse_fields<RepairRecord>(json);
}

bool same_but_for_time(const LedgerState& a, const LedgerState& b) {
  return what_matters(a) == what_matters(b);
}

}  // namespace linkhealth
