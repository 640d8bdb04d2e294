#!/usr/bin/env python3
"""Fifty complaints of the users of like programs, and what holds each of them off here: the test by name, or where a row
that is not about reading belongs. Fails when a named test is not there.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
NOT_READING = "not about reading: "

# row: (complaint, tests or where it belongs). A test is "Suite.Name" of the unit tests or "odd_nodes.name" of
# tests/robustness/odd_nodes.py, or a script of the lab.
ROWS = {
    1: ("one tool for down, flap and the condition that others act on", NOT_READING + "fault events, journal and metrics;"
        " we never act ourselves"),
    2: ("flaps, error counters and NIC state, passively", ["DaemonSampler.ReadsEveryGroupOfEveryPort",
                                                           "DaemonSampler.TenFlapsBetweenTwoReadsAreTen"]),
    3: ("fatal on a port that was never wired", ["Exempt.APortThatNobodyUsesIsLeftOutWithTheReason",
                                                 "PortsThatGo.APortThatNobodyExpectsMayGo"]),
    4: ("after a reboot ports that are expected down make events", ["Engine.ARebootRaisesNothing"]),
    5: ("a recovery of the state cleared a counter's fault", ["Differential.TheSecondPassFindsWhatTheFirstFaultDoesNotExplain"]),
    6: ("an event was lost when publishing failed", NOT_READING + "delivery of events is issue 5's; the ledger keeps the"
        " fault and the event log is local"),
    7: ("a read error or a driver reload looked like all NICs gone",
        ["DaemonPortSearch.AListThatCantBeReadMakesNothingGoneAndNothingPlain",
         "DaemonPortSearch.AMissedPortIsUnknownFirstAndGoneAfterThree", "PortsThatGo.AShortReloadOfTheDriverIsNothing",
         "PortsThatGo.AllAtOnceAreOneMatterAndNoCable", "odd_nodes.all_ports_vanish"]),
    8: ("no way back for a card that disappeared", ["PortsThatGo.AllAtOnceAreOneMatterAndNoCable",
        "PortsThatGo.AFaultOfAPortThatNeverComesBackStaysInTheLedgerAndClosesWhenItComes"]),
    9: ("a typo in the configuration turned the counters off", ["Config.AWrongKeyNamesItsLineAndTheNearestGoodOne",
                                                                "DaemonConfig.AMistypedKnobNamesItsLineAndTheNearestKey"]),
    10: ("a blip of the management port cordoned the node", ["Inventory.TheManagementPortIsExemptBesideRdmaPorts"]),
    11: ("a device renamed at a reboot, its condition orphaned",
         ["PortsThatGo.AnOpenFaultFollowsThePciAddressWhenNamesSwapAtAReboot", "odd_nodes.swapped_names_after_a_reboot",
          "odd_nodes.renamed_netdev", "DaemonPortSearch.SwappedNamesAreTheSameCards"]),
    12: ("one unreadable device held everything up", ["OddNode.AHungReadCostsOneThreadAndNoMoreOverThousandsOfPolls",
         "OddNode.AHungSearchDelaysNothingElse", "odd_nodes.hung_read", "odd_nodes.all_reads_hang"]),
    13: ("a platform without a device file: every node condemned", ["OddPort.IsSaidAndHidesNoOther",
                                                                    "DoctorRefusal.HasItsReasonAndItsHint"]),
    14: ("the last device of a class going was never told", ["DaemonPortSearch.TheLastPortOfAKindIsTold",
         "DaemonPortSearch.AllPortsGoneIsOneGapOfTheNode", "PortsThatGo.TheLastOneIsReported"]),
    15: ("a file read from a path that never was", ["OddPort.IsSaidAndHidesNoOther",
                                                    "Doctor.SaysWhatIsSeenAndWhatIsNotYet"]),
    16: ("a flap at bring-up drained the node for ever", NOT_READING + "Ledger.AFaultOpensAfterItsHoldProvesAndCloses"
         " (issue 4)"),
    17: ("drop and healthy in turns", NOT_READING + "Ledger.AQuarrelOfNamesDoesNotKeepAFaultClosed (issue 4)"),
    18: ("unused ports raised an alarm", ["Exempt.APortThatNobodyUsesIsLeftOutWithTheReason"]),
    19: ("a fault hidden because enough ports were up", NOT_READING + "each port is judged by itself"),
    20: ("a restart made a fault look healthy", ["Engine.TheLedgerSurvivesARestart",
                                                 "Engine.APortWithNothingReadableIsUnknownThenBlind"]),
    21: ("a missing program or no hardware was unhealthy", ["OddNode.WithoutAnyDeviceIsQuiet",
                                                            "odd_nodes.no_device_at_all"]),
    22: ("reading counters flooded the kernel log", ["IbSysfs.AFailingFileIsAskedLessAndLessOftenAndComesBack"]),
    23: ("a port in switch mode lost all metrics", ["OddPort.IsSaidAndHidesNoOther", "IbSysfs.APortInSwitchModeLosesOnlyItself",
                                                    "odd_nodes.switch_mode_and_garbage"]),
    24: ('"N/A (no PMA)" broke the parser', ["OddPort.IsSaidAndHidesNoOther", "odd_nodes.switch_mode_and_garbage"]),
    25: ("a second driver without counters lost the first one's", ["IbSysfs.DirectoriesThatTheDriverDoesNotOfferAreAbsentNotGaps",
                                                                   "odd_nodes.missing_directories"]),
    26: ("drivers that lack the usual files", ["IbSysfs.DirectoriesThatTheDriverDoesNotOfferAreAbsentNotGaps",
                                               "odd_nodes.missing_directories"]),
    27: ("a container does not see the counters", ["Doctor.FactsOfAContainerWithPartialSys",
                                                   "DoctorRefusal.HasItsReasonAndItsHint", "Inventory.AnUnreadableClassIsAGap"]),
    28: ("ten thousand series on one host", ["Metrics.DefaultSet", "GapLabel.WhateverAFileSaysThereAreFewLabels"]),
    29: ("HELP texts that clash", ["Metrics.PromtoolFindsNothing", "Metrics.ASeriesComesOnce"]),
    30: ("missing files made an error each scrape", ["OddNode.WithoutAnyDeviceIsQuiet", "Inventory.NoDeviceAtAllIsNoGap"]),
    31: ("dead peers made scrapes slow", NOT_READING + "the far-end readers' own tests; scrapes never read hardware"),
    32: ("only one end is collected", NOT_READING + "the far-end readers' own tests"),
    33: ("one process a scan is too slow for a second", ["DaemonSampler.ReadsEveryGroupOfEveryPort"]),
    34: ("a tool reset counters that it did not record", NOT_READING + "there is no call that writes: probes/host.h"),
    35: ("a constant error rate did not trigger", NOT_READING + "Labelled.IsRight with steady errors (issue 4)"),
    36: ("ethtool -m with thresholds, please", ["Cmis.ReadsAWholeModule",
                                                "ModuleText.ShowsLanesAsBarsAgainstTheModulesOwnLimits"]),
    37: ("uncorrectable FEC words and PCS loss, please", ["EthtoolFec.ReadsModeTotalsAndLanes"]),
    38: ("flap count and last flap of each port", ["Engine.TenFlapsInAMinuteAreTenThoughEveryReadingSawThePortUp"]),
    39: ("the module loop took 109 s", ["ModuleScheduleTest.ASlowModuleIsReadLessOften",
                                        "DaemonSampler.EverySnapshotTellsHowLongEachProbeTookLast"]),
    40: ("concurrent EEPROM reads fail; some hang for seconds", ["ModuleScheduleTest.OthersGetTheLockBetweenTwoReads",
                                                                 "ModuleReader.AReadThatHangsIsNamedAndNobodyWaits"]),
    41: ("module revisions decoded as garbage", ["ModuleCorpus.InventsNothing", "ModuleCorpus.RealModulesHaveRightChecksums"]),
    42: ("reading an unplugged module logs kernel errors", ["ModuleScheduleTest.AnEmptyCageIsNoModuleAndIsAskedSeldom"]),
    43: ("switch module reading off during firmware work", ["Engine.ABusyModuleIsNotBlind"]),
    44: ("a voltage off by ten", ["ModuleCorpus.AgreesWithEverythingThatTheSourcesState"]),
    45: ("operators compare link_downed by hand", NOT_READING + "the verdict is the product"),
    46: ("a virtual function's speed is not the link's", ["Inventory.AGuestSeesThatItsFunctionIsVirtual",
                                                          "odd_nodes.virtual_functions_only"]),
    47: ("tunnels and veths flap", ["Inventory.PlainEthernetIsJudgedByBusNotByName"]),
    48: ("an alert mixed two nodes", NOT_READING + "alert rules (issue 5); docs/metrics.md says what to join on"),
    49: ("a card shows no LLDP neighbour", ["DoctorRefusal.HasItsReasonAndItsHint"]),
    50: ("split ports, odd rates", ["IbSysfsParse.Rates", "EthtoolLinkModes.UnknownIsAbsentNotANumber"]),
}


def main():
    assert sorted(ROWS) == list(range(1, 51)), "fifty rows"
    files = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "tests/*.cpp", "tests/*/*.cpp",
                            "tests/robustness/odd_nodes.py"], check=True, capture_output=True, text=True).stdout.split()
    text = "".join(open(os.path.join(ROOT, file), encoding="utf-8").read() for file in set(files))
    there = {f"{suite}.{name}" for suite, name in
             re.findall(r"\bTEST(?:_F|_P)?\(\s*([A-Za-z0-9_]+)\s*,\s*([A-Za-z0-9_]+)\s*\)", text)}
    there |= {f"odd_nodes.{name}" for name in re.findall(r"^def ([a-z0-9_]+)\(node\)", text, re.M)}
    missing = [f"row {row}: no test {test}" for row, (_, tests) in ROWS.items() if isinstance(tests, list)
               for test in tests if test not in there]
    empty = [f"row {row} has nothing" for row, (_, tests) in ROWS.items() if not tests]
    for line in missing + empty:
        print(line)
    print(f"{sum(isinstance(tests, list) for _, tests in ROWS.values())} of {len(ROWS)} rows are held by tests")
    return 1 if missing or empty else 0


sys.exit(main())
