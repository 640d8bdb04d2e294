#include "exporters/text/ticket.h"

#include <gmock/gmock.h>

#include "exporters/text/text_layout.h"
#include "tests/support/golden.h"
#include "tests/support/report_builder.h"

namespace linkhealth {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

Report placed() {
  Report report = test::example_report();
  report.site = SiteLabels{{"u", "17"}, {"rack", "12"}, {"row", "C"}, {"owner", "ml"}};
  for (std::size_t i = 0; i < report.ports.size(); ++i)
    if (auto& module = report.ports[i].latest.module; i != 1 && module)
      module->serial = "ANOTHER" + std::to_string(i);
  PortReport& port = report.ports[1];
  port.expected.peer_system = "leaf-12";
  port.expected.peer_rack = "14";
  port.expected.peer_u = "40";
  port.expected.rail = "3";
  port.latest.pcie.emplace();
  port.latest.pcie->slot = "4";
  return report;
}

TEST(TicketTest, AllThatATechnicianNeeds) {
  const Report report = placed();
  test::expect_golden("tests/golden/text/ticket.md",
                      ticket_markdown(make_ticket(report, report.ports[1])));
}

TEST(TicketTest, TheOtherPortsOfAModuleAreNamedBeforeItIsTouched) {
  Report report = placed();
  report.ports[0].latest.module->serial = report.ports[1].latest.module->serial;
  const auto before = [&report] { return make_ticket(report, report.ports[1]).before; };
  EXPECT_THAT(before(), Contains(HasSubstr("also that of mlx5_0/1: ")));
  report.ports[1].faults[0].repair = {"replace the jumper"};
  EXPECT_THAT(before(), Not(Contains(HasSubstr("also that of")))) << "the module is not touched";
}

TEST(TicketTest, NothingIsToBeDoneDuringVerification) {
  Report report = placed();
  report.ports[1].faults[0].state = FaultState::kProving;
  const Ticket ticket = make_ticket(report, report.ports[1]);
  EXPECT_THAT(ticket.before, ElementsAre(HasSubstr("Nothing is to be done now")));
  EXPECT_THAT(ticket.summary, StartsWith("last symptoms: lane 2"));
  EXPECT_EQ(ticket.confirm, "");
}

TEST(TicketTest, BothEndsHaveTheirPlace) {
  const Report report = placed();
  const Ticket ticket = make_ticket(report, report.ports[1]);
  EXPECT_EQ(ticket.near.place, "row C, rack 12, U 17, owner ml");
  EXPECT_EQ(ticket.near.slot, "slot 4, PCI 0000:9a:00.0");
  EXPECT_EQ(ticket.near.port, "mlx5_3/1 (ens4np0), rail 3");
  EXPECT_EQ(ticket.near.serial, "A1B2C3");
  EXPECT_EQ(ticket.far.system, "leaf-12");
  EXPECT_EQ(ticket.far.place, "rack 14, U 40");
}

TEST(TicketTest, ThePlansRackIsNotThatOfAnotherSwitch) {
  Report report = placed();
  report.ports[1].expected.peer_system = "leaf-99";
  EXPECT_EQ(make_ticket(report, report.ports[1]).far.place, "");
}

TEST(TicketTest, WhatToBringFollowsTheMedium) {
  PortReport port = test::dirty_port();
  EXPECT_THAT(things_to_bring(port.faults[0], port), Contains(HasSubstr("cleaner for MPO-12 APC")));
  EXPECT_THAT(things_to_bring(port.faults[0], port), Contains("jumper: MPO-12 APC, 30 m"));
  port.latest.module->connector = "LC";
  port.latest.module->type = "400G-FR4";
  EXPECT_THAT(things_to_bring(port.faults[0], port),
              Contains(HasSubstr("cleaner for LC (both ends)")));
  port.latest.module->connector = "MPO-12";
  port.latest.module->type = "100GBASE-SR4";
  EXPECT_THAT(things_to_bring(port.faults[0], port), Contains(HasSubstr("cleaner for MPO-12 PC")));
  port.expected.cable = "C-1234, 20 m";
  EXPECT_THAT(things_to_bring(port.faults[0], port), Contains("jumper: MPO-12 PC, C-1234, 20 m"));
}

TEST(TicketTest, ACopperCableIsReplacedAsAWhole) {
  PortReport port = test::dirty_port();
  port.latest.module->kind = "dac";
  port.latest.module->type = "400G-CR4";
  port.latest.module->length_m = 2;
  port.faults[0].repair = {"reseat both ends of the cable (A1)", "replace the cable (A1)"};
  EXPECT_THAT(things_to_bring(port.faults[0], port),
              ::testing::ElementsAre("spare cable (2 m): Example Optics EX-400-DR4, 400G-CR4"));
}

TEST(TicketTest, NothingIsBroughtWhereNothingIsTouched) {
  const PortReport port = test::down_port();
  EXPECT_THAT(things_to_bring(port.faults[0], port), IsEmpty());
  Report report = test::example_report();
  const Ticket ticket = make_ticket(report, report.ports[2]);
  EXPECT_THAT(ticket.before,
              ::testing::ElementsAre("Do not touch the cable: the fault is not in it."));
}

TEST(TicketTest, EachStepHasAStopCondition) {
  const Report report = placed();
  const Ticket ticket = make_ticket(report, report.ports[1]);
  ASSERT_EQ(ticket.steps.size(), 4U);
  EXPECT_THAT(ticket.steps[0].stop, HasSubstr("linkhealth verify mlx5_3/1"));
  EXPECT_THAT(ticket.steps[3].stop, HasSubstr("pass this ticket on"));
  EXPECT_LE(ticket.evidence.size(), 6U);
}

TEST(TicketTest, AHealthyPortHasATicketToo) {
  const Report report = test::example_report();
  EXPECT_THAT(ticket_markdown(make_ticket(report, report.ports[0])),
              HasSubstr("No fault is open."));
}

TEST(TicketTest, AnImportedModuleReadingIsMarked) {
  Report report = placed();
  EXPECT_THAT(ticket_markdown(make_ticket(report, report.ports[1])), Not(HasSubstr("imported")));
  report.ports[1].latest.module->imported_at = report.at - std::chrono::minutes(5);
  const Ticket ticket = make_ticket(report, report.ports[1]);
  EXPECT_THAT(
      ticket_markdown(ticket),
      HasSubstr(", imported reading of " + format_instant(report.at - std::chrono::minutes(5))));
  EXPECT_THAT(ticket_json(ticket), HasSubstr("\"module_imported_at\":\"" +
                                             format_rfc3339(report.at - std::chrono::minutes(5))));
}

TEST(TicketTest, ModuleTextIsNoMarkup) {
  Report report = placed();
  report.ports[1].latest.module->vendor = "`rm` <b> # [x](http://y) \x1b[31m";
  const std::string text = ticket_markdown(make_ticket(report, report.ports[1]));
  EXPECT_THAT(text, HasSubstr("\\`rm\\` \\<b> \\# \\[x]"));
  EXPECT_THAT(text, Not(HasSubstr("\x1b")));
}

TEST(Ticket, OfAModuleThatIsRefusedDoesNotAskForAnotherOfItsKind) {
  PortReport port;
  port.latest.module = ModuleSample{};
  port.latest.module->present = true;
  port.latest.module->vendor = "NordOptic";
  port.latest.module->part_number = "NO-100G-CWDM4";
  FaultReport fault;
  fault.fault = "module_unsupported";
  fault.repair = {"replace this module (SN 1) with an approved one"};
  EXPECT_THAT(things_to_bring(fault, port),
              ElementsAre("an approved module for this node, not another NordOptic NO-100G-CWDM4"));
  fault.fault = "bad_module";
  EXPECT_THAT(things_to_bring(fault, port), Contains(HasSubstr("spare module for this node")));
}

TEST(Ticket, OfAnEmptyCageSaysSo) {
  Report report;
  PortReport port;
  port.latest.module = ModuleSample{};
  port.latest.module->present = false;
  EXPECT_THAT(ticket_markdown(make_ticket(report, port)),
              HasSubstr("Module here: none in the cage"));
  port.latest.module.reset();
  EXPECT_THAT(ticket_markdown(make_ticket(report, port)),
              HasSubstr("Module here: identity not readable from this node"));
}

}  // namespace
}  // namespace linkhealth
