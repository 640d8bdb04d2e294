#include "model/repair.h"

#include <array>
#include <utility>

namespace linkhealth {

namespace {

constexpr auto kActions = std::to_array<std::pair<RepairAction, std::string_view>>({
    {RepairAction::kPortBounced, "port_bounced"},
    {RepairAction::kDriverReloaded, "driver_reloaded"},
    {RepairAction::kNodeRebooted, "node_rebooted"},
    {RepairAction::kFibreReseated, "fibre_reseated"},
    {RepairAction::kModuleReseated, "module_reseated"},
    {RepairAction::kModuleReplaced, "module_replaced"},
    {RepairAction::kFarModuleReplaced, "far_module_replaced"},
});
constexpr auto kOutcomes = std::to_array<std::pair<RepairOutcome, std::string_view>>({
    {RepairOutcome::kPending, "pending"},
    {RepairOutcome::kHeld, "held"},
    {RepairOutcome::kFailed, "failed"},
});

template <typename Table, typename Value>
std::string_view word_of(const Table& table, Value value) {
  for (const auto& [row, word] : table)
    if (row == value) return word;
  return "";
}

template <typename Value, typename Table>
std::optional<Value> value_of(const Table& table, std::string_view text) {
  for (const auto& [row, word] : table)
    if (word == text) return row;
  return std::nullopt;
}

}  // namespace

std::string_view to_string(RepairAction action) { return word_of(kActions, action); }
std::optional<RepairAction> parse_repair_action(std::string_view text) {
  return value_of<RepairAction>(kActions, text);
}
std::string_view to_string(RepairOutcome outcome) { return word_of(kOutcomes, outcome); }
std::optional<RepairOutcome> parse_repair_outcome(std::string_view text) {
  return value_of<RepairOutcome>(kOutcomes, text);
}

}  // namespace linkhealth
