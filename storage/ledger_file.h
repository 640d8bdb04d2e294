// The open faults and what goes with them as JSON: the documents in the memory (storage/memory.h),
// and the file ledger.json of releases before it, which is read once.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/ledger_state.h"

namespace linkhealth {

std::string ledger_json(const LedgerState& state);
/// An error says where the text is damaged.
Result<LedgerState> parse_ledger(std::string_view json);

/// One fault, one repair: a row each of the memory.
std::string ledger_fault_json(const LedgerFault& fault);
Result<LedgerFault> parse_ledger_fault(std::string_view json);
std::string repair_record_json(const RepairRecord& repair);
Result<RepairRecord> parse_repair_record(std::string_view json);

/// Whether both say the same but for what moves with every sample: a restart may lose some seconds
/// of that, and a write each ten seconds for it would be waste.
bool same_but_for_time(const LedgerState& a, const LedgerState& b);

}  // namespace linkhealth
