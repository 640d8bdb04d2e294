#!/usr/bin/env python3
"""Fifty complaints of the users of like programs, and the tests that hold each of them off here, by name. Fails when a named
test is not there.
"""
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))

# row: (complaint, tests). A test is "Suite.Name" of the unit tests, "odd_nodes.name" of tests/robustness/odd_nodes.py, or
# "rules_test.name" of tests/rules/rules_test.py.
ROWS = {
    1: ("one tool for down, flap and the condition that others act on",
        ["CheckTest.EachHealthHasItsLevel", "Journal.AnEntrySaysWhatWhereHowSureAndWhatToDo"]),
    2: ("flaps, error counters and NIC state, passively", ["DaemonSampler.ReadsEveryGroupOfEveryPort",
                                                           "DaemonSampler.TenFlapsBetweenTwoReadsAreTen"]),
    3: ("fatal on a port that was never wired", ["Exempt.APortThatNobodyUsesIsLeftOutWithTheReason",
                                                 "PortsThatGo.APortThatNobodyExpectsMayGo"]),
    4: ("after a reboot ports that are expected down make events", ["Engine.ARebootRaisesNothing"]),
    5: ("a recovery of the state cleared a counter's fault", ["Ledger.AnIdlePortProvesNothingAboutItsTraffic",
        "Differential.TheSecondPassFindsWhatTheFirstFaultDoesNotExplain"]),
    6: ("an event was lost when publishing failed", ["HistoryKeeperTest.TheNextRunKnowsTheEventsOfThisOne",
        "HistoryKeeperTest.EachEventIsAnnouncedOnceAndTheStateIsThereAfterARestart"]),
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
    13: ("a platform without a device file: every node condemned",
         ["OddPort.IsSaidAndHidesNoOther", "Engine.APortWithNothingReadableIsUnknownThenBlind",
          "DoctorRefusal.HasItsReasonAndItsHint"]),
    14: ("the last device of a class going was never told", ["DaemonPortSearch.TheLastPortOfAKindIsTold",
         "DaemonPortSearch.AllPortsGoneIsOneGapOfTheNode", "PortsThatGo.TheLastOneIsReported"]),
    15: ("a file read from a path that never was", ["OddPort.IsSaidAndHidesNoOther",
                                                    "NetdevSysfs.WithoutCountsTheCarrierFileIsRead",
                                                    "UnopenedNetdev.AFileThatIsNotThereIsAGapOfEachLinkThatIsShown",
                                                    "odd_nodes.without_carrier_counts",
                                                    "FaultLife.APartThatIsNeverReadHidesNotTheRest",
                                                    "Doctor.ADeviceThatCouldBeOpenedIsNotSeenUntilSomebodyListens",
                                                    "Doctor.SaysWhatIsSeenAndWhatIsNotYet"]),
    16: ("a flap at bring-up drained the node for ever", ["Ledger.AFaultOpensAfterItsHoldProvesAndCloses",
                                                          "FaultLife.FlapsClearByProvenStability"]),
    17: ("drop and healthy in turns", ["Ledger.AQuarrelOfNamesDoesNotKeepAFaultClosed",
                                       "Ledger.ARepairThatDoesNotHoldReopens"]),
    18: ("unused ports raised an alarm", ["Exempt.APortThatNobodyUsesIsLeftOutWithTheReason"]),
    19: ("a fault hidden because enough ports were up", ["CheckTest.TheWorstComesFirstAndUnknownIsLessThanBad",
                                                         "StatusText.ProblemsOnlyStillCountsAllPorts"]),
    20: ("a restart made a fault look healthy", ["Engine.TheLedgerSurvivesARestart",
                                                 "Engine.APortWithNothingReadableIsUnknownThenBlind"]),
    21: ("a missing program or no hardware was unhealthy", ["OddNode.WithoutAnyDeviceIsQuiet",
                                                            "odd_nodes.no_device_at_all"]),
    22: ("reading counters flooded the kernel log", ["IbSysfs.AFailingFileIsAskedLessAndLessOftenAndComesBack"]),
    23: ("a port in switch mode lost all metrics", ["OddPort.IsSaidAndHidesNoOther", "IbSysfs.APortInSwitchModeLosesOnlyItself",
                                                    "odd_nodes.switch_mode_and_garbage"]),
    24: ('"N/A (no PMA)" broke the parser', ["OddPort.IsSaidAndHidesNoOther", "odd_nodes.switch_mode_and_garbage",
                                              "IbSysfs.EveryKindOfBadContentIsAbsentWithAReason"]),
    25: ("a second driver without counters lost the first one's", ["IbSysfs.DirectoriesThatTheDriverDoesNotOfferAreAbsentNotGaps",
                                                                   "odd_nodes.missing_directories"]),
    26: ("drivers that lack the usual files", ["IbSysfs.DirectoriesThatTheDriverDoesNotOfferAreAbsentNotGaps",
                                               "odd_nodes.missing_directories", "odd_nodes.missing_files"]),
    27: ("a container does not see the counters",
         ["Doctor.FactsOfAContainerWithPartialSys", "DoctorRefusal.HasItsReasonAndItsHint",
          "DoctorHints.EveryNameThatTheSourcesGiveToGapsHasItsRow", "Inventory.AnUnreadableClassIsAGap", "OddPort.IsSaidAndHidesNoOther"]),
    28: ("ten thousand series on one host", ["Metrics.TheDefaultSetIsLean",
                                             "GapLabel.WhateverAFileSaysThereAreFewLabels"]),
    29: ("HELP texts that clash", ["Metrics.PromtoolFindsNothing", "Metrics.ASeriesComesOnce"]),
    30: ("missing files made an error each scrape", ["OddNode.WithoutAnyDeviceIsQuiet", "Inventory.NoDeviceAtAllIsNoGap",
                                                  "odd_nodes.missing_directories"]),
    31: ("dead peers made scrapes slow",
         ["PeerMad.ASilentFarEndIsOneBoundedQuestionAndAGap",
          "MadScheduleTest.AFarEndThatDoesNotAnswerIsAskedLessAndLessOften",
          "PeerReaderFarEnds.ASourceThatHangsHindersNoOtherAndIsNamed", "Publisher.BytesAreMadeOnceAndShared"]),
    32: ("only one end is collected", ["PeerMad.ASwitchSaysWhoItIsAndWhatItsPortCounts",
                                       "DaemonFarEnds.TheFarEndStandsInTheSnapshot"]),
    33: ("one process a scan is too slow for a second", ["DaemonSamplerTiming.ASecondIsASecondAlsoWhileAReadHangs",
                                                         "DaemonSampler.TenFlapsBetweenTwoReadsAreTen",
                                                         "odd_nodes.sixty_four_ports"]),
    34: ("a tool reset counters that it did not record",
         ["MadRequests.NoneSetsAnything", "PeerMad.NeverSetsAndNeverReusesATransaction",
          "History.ACounterThatGoesDownRebasesThoseOfItsSourceAndNoOther"]),
    35: ("a constant error rate did not trigger", ["FaultLife.AnErrorRateThatWasAlwaysThereIsSeen",
                                                   "FaultLife.ALaneThatWasAlwaysBadIsSeen"]),
    36: ("ethtool -m with thresholds, please", ["Cmis.ReadsAWholeModule",
                                                "ModuleText.ShowsLanesAsBarsAgainstTheModulesOwnLimits"]),
    37: ("uncorrectable FEC words and PCS loss, please", ["EthtoolFec.ReadsModeTotalsAndLanes",
        "Flows.EachDriversNameCarriesTheMeaning", "EthtoolLinkState.WordsAreEthtools",
        "EverySymptom.IsPresent"]),
    38: ("flap count and last flap of each port", ["Engine.TenFlapsInAMinuteAreTenThoughEveryReadingSawThePortUp",
         "LastDrop.IsTheLastLossThatNobodyMeantHoweverLongAgo", "LastDrop.OutlivesARestart",
         "Metrics.TheLastFlapOfEachPortHasItsTime"]),
    39: ("the module loop took 109 s", ["ModuleScheduleTest.ASlowModuleIsReadLessOften",
                                        "DaemonSampler.EverySnapshotTellsHowLongEachProbeTookLast",
                                        "DaemonSamplerTiming.AProbesDurationIsThatOfItsReadsOfAllPorts",
                                        "DaemonLoop.TellsHowMuchLaterThanPlannedItCame"]),
    40: ("concurrent EEPROM reads fail; some hang for seconds", ["ModuleScheduleTest.FailuresAreGapsAndAreAskedLessAndLessOften",
                                                                 "ModuleScheduleTest.ALateFailureKeepsTheIdentity",
                                                                 "ModuleScheduleTest.OthersGetTheLockBetweenTwoReads",
                                                                 "ModuleReader.AReadThatHangsIsNamedAndNobodyWaits"]),
    41: ("module revisions decoded as garbage", ["ModuleCorpus.InventsNothing", "ModuleCorpus.RealModulesHaveRightChecksums",
                                                 "Cmis.RevisionsThatDoNotExistAreNotNamed",
                                                 "CliModuleFile.AWrongChecksumIsAWarning",
                                                 "CliModuleFile.WhatAModuleSaysControlsNoTerminal"]),
    42: ("reading an unplugged module logs kernel errors", ["ModuleScheduleTest.AnEmptyCageIsNoModuleAndIsAskedSeldom",
        "ModulePresenceTest.AnEmptyCageIsLookedAtSeldomWhileTheDriverSaysSo",
        "ModulePresenceTest.ACageThatOnlyFailsIsEmptyWhenTheDriverSaysSoToo",
        "DaemonSamplerModules.AnEmptyCageIsLeftAloneWhileTheDriverSaysThatNoCableIsIn"]),
    43: ("switch module reading off during firmware work", ["DaemonSamplerModules.AModuleThatIsToBeLeftAloneIsNotRead",
        "MaintenanceLog.AModuleIsLeftAloneForAsLongAsAnybodyWantsIt", "Engine.ABusyModuleIsNotBlind"]),
    44: ("a voltage off by ten", ["Cmis.ReadsAWholeModule", "Sff8472.ReadsAWholeModule",
                                  "Sff8636.OldRevisionsMeasureWhatIsNotZero", "ModuleCorpus.AgreesWithEverythingThatTheSourcesState"]),
    45: ("operators compare link_downed by hand", ["PartReadings.AFullFileBetweenTwoAnswersOfTheAgentIsNoFlaps",
                                                   "Engine.TenFlapsInAMinuteAreTenThoughEveryReadingSawThePortUp",
                                                   "StatusText.UsualTerminal",
                                                   "StatusText.SaysWhenNothingIsWrongAndWhenNothingIsWatched"]),
    46: ("a virtual function's speed is not the link's", ["Inventory.AGuestSeesThatItsFunctionIsVirtual",
                                                          "odd_nodes.virtual_functions_only"]),
    47: ("tunnels and veths flap", ["Inventory.PlainEthernetIsJudgedByBusNotByName"]),
    48: ("an alert mixed two nodes", ["rules_test.single_links"]),
    49: ("a card shows no LLDP neighbour",
         ["DoctorRefusal.HasItsReasonAndItsHint", "PeerLldpHints.AreOfTheDriver",
          "PeerLldp.NoNeighbourIsAGapOnlyWhenOneMustHaveCome"]),
    50: ("split ports, odd rates", ["IbStateParse.Rates", "EthtoolLinkModes.UnknownIsAbsentNotANumber",
                                    "Inventory.TwoPortsOfOneFunctionAreToldApartByDevPort", "odd_nodes.a_split_port"]),
}


def text_of(file):
    with open(os.path.join(ROOT, file), encoding="utf-8") as source:
        return source.read()


def main():
    assert sorted(ROWS) == list(range(1, 51)), "fifty rows"
    files = subprocess.run(["git", "-C", ROOT, "ls-files", "-co", "--exclude-standard", "tests/*.cpp", "tests/*/*.cpp"],
                           check=True, capture_output=True, text=True).stdout.split()
    there = {f"{suite}.{name}" for file in set(files) for suite, name in
             re.findall(r"\bTEST(?:_F|_P)?\(\s*([A-Za-z0-9_]+)\s*,\s*([A-Za-z0-9_]+)\s*\)", text_of(file))}
    there |= {f"odd_nodes.{name}" for name in
              re.findall(r"^def ([a-z0-9_]+)\(node\)", text_of("tests/robustness/odd_nodes.py"), re.M)}
    there |= {f"rules_test.{name}" for name in
              re.findall(r"^def ([a-z0-9_]+)\(\)", text_of("tests/rules/rules_test.py"), re.M)}
    missing = [f"row {row}: no test {test}" for row, (_, tests) in ROWS.items() for test in tests if test not in there]
    empty = [f"row {row} has nothing" for row, (_, tests) in ROWS.items() if not tests]
    for line in missing + empty:
        print(line)
    print(f"{len(ROWS) - len(empty)} of {len(ROWS)} rows are held by tests")
    return 1 if missing or empty else 0


sys.exit(main())
