// The causes: how often each shows which symptom. The frequencies are estimates (docs/adr/0002)
// based on docs/physics.md 5 and 7.
#include "diagnosis/causes.h"

namespace linkhealth {

namespace {

using enum SymptomId;
using F = FaultId;

constexpr Expectations kNothing = {};
// A link that went down and comes back by itself: both ends train, with light (docs/physics.md 7d).
constexpr Expectations kRetraining = {.always = {kLightThere},
                                      .often = {kRemoteFault},
                                      .sometimes = {kTrainingFails, kNoPcsLock},
                                      .rarely = {kNoFecLock, kBadSignal, kNegotiationFails}};
constexpr Expectations kDirtyIn = {
    .always = {kLightLow, kFarSendsUnheard},
    .often = {kOneLaneErrors, kLosingData, kErrorsBeforeFall, kSomeLanesDark, kBadSignal},
    .sometimes = {kModuleNew, kFlaps, kNoLight, kLinkRecoveries, kSnrLow, kNoPartner, kRetries,
                  kNoPcsLock},
    .rarely = {kRemoteFault, kNoFecLock, kTrainingFails, kLightThere, kLaneReadsDark,
               kNoLockWithLight, kFarErrors, kSpeedReduced, kFibresAlike}};
constexpr Expectations kDirtyOut = {
    .always = {kFarRxLow, kLightThere},
    .often = {kFarErrors, kRemoteFault},
    .sometimes = {kModuleNew, kRetries, kBadSignal, kNoPcsLock},
    .rarely = {kFlaps, kNoFecLock, kTrainingFails, kNoPartner, kFarRxDark, kSpeedReduced}};
constexpr Expectations kReflections = {.always = {kLightThere, kErrorsBeforeFall},
                                       .often = {kSnrLow, kBadSignal},
                                       .sometimes = {kOneLaneErrors, kLosingData},
                                       .rarely = {kFlaps, kLinkRecoveries, kRetries}};
constexpr Expectations kFibre = {
    .always = {kLightLow, kFarSendsUnheard},
    .often = {kFarRxLow, kLosingData, kNoLight, kFarRxDark, kNoPartner, kFibresAlike},
    .sometimes = {kModuleFell, kRemoteFault, kFarErrors, kSomeLanesDark, kErrorsBeforeFall,
                  kBadSignal, kOneLaneErrors, kFlaps, kRetries, kSnrLow, kLinkRecoveries,
                  kNoPcsLock},
    .rarely = {kModuleNew, kNoFecLock, kSpeedReduced, kNoLockWithLight}};
constexpr Expectations kFarLaser = {
    .always = {kLightLow, kFarTxLow, kOneLaneErrors},
    .often = {kLosingData, kSomeLanesDark, kErrorsBeforeFall, kBadSignal},
    .sometimes = {kFarTxOff, kNoLight, kFlaps, kNoPartner, kSnrLow, kLinkRecoveries, kNoPcsLock,
                  kFibresAlike},
    .rarely = {kRemoteFault, kNoFecLock, kRetries, kSpeedReduced}};
constexpr Expectations kOwnLaser = {
    .always = {kTxLow, kFarRxLow, kLightThere},
    .often = {kRemoteFault},
    .sometimes = {kTxFault, kTxOff, kFarErrors, kRetries, kFlaps, kNoFecLock, kBadSignal,
                  kLaserTires},
    .rarely = {kModuleNew, kFarRxDark, kTrainingFails, kNoPartner, kNoPcsLock}};
constexpr Expectations kTiringLaser = {
    .decisive = {{{kLaserTires, 4}}}, .always = {kLaserTires}, .rarely = {kTxFault}};
constexpr Expectations kOwnReceiver = {
    .always = {kLightThere},
    .often = {kOneLaneErrors, kLosingData, kErrorsBeforeFall, kSnrLow, kBadSignal,
              kFarSendsUnheard},
    .sometimes = {kModuleNew, kFlaps, kNoLockWithLight, kNoFecLock, kTrainingFails, kFarErrors,
                  kNoPcsLock},
    .rarely = {kLinkRecoveries, kModuleState, kRetries, kSpeedReduced, kRemoteFault, kNoPartner,
               kModuleBlind, kTxOff, kNoLight, kFibresAlike}};
constexpr Expectations kBursting = {.always = {kErrorBursts, kLosingData},
                                    .sometimes = {kFlaps, kRetries, kLinkRecoveries},
                                    .rarely = {kOneLaneErrors}};
constexpr Expectations kFarReceiver = {
    .always = {kFarErrors, kLightThere}, .often = {kRetries, kRemoteFault}, .sometimes = {kFlaps}};
constexpr Expectations kLoose = {
    .decisive = {{{kModuleDropsOut, 5}}},
    .always = {kFlaps},
    .sometimes = {kErrorBursts, kLinkRecoveries, kLosingData, kModuleDropsOut},
    .rarely = {kRetries, kModuleState}};
constexpr Expectations kFarModule = {
    .often = {kOneLaneErrors, kLosingData, kErrorsBeforeFall, kSnrLow, kLightThere},
    .sometimes = {kFlaps, kLinkRecoveries, kNoLight, kBadSignal, kNoFecLock, kTrainingFails,
                  kFarErrors, kRetries, kRemoteFault, kNoPartner, kSpeedReduced, kNoPcsLock},
    .rarely = {kFarTxOff}};
constexpr Expectations kWrongReading = {.decisive = {{{kLaneReadsDark, 5}}},
                                        .always = {kLaneReadsDark, kLightLow}};
constexpr Expectations kModuleControl = {
    .decisive = {{{kModuleFaultReported, 5}}},
    .always = {kModuleFaultReported},
    .often = {kModuleState, kModuleBlind, kTxOff, kFarRxDark, kFarSendsUnheard},
    .sometimes = {kModuleNew, kLightThere, kNoLight, kFarRxLow, kModuleFell},
    .rarely = {kModuleAbsent, kFlaps, kNoPartner, kModuleHeld, kHostSilent, kModuleDropsOut}};
// It neither sends nor receives, and reports no reason.
constexpr Expectations kDeadModule = {
    .always = {kTxOff, kTxLow},
    .often = {kModuleFell, kNoLight, kLightLow, kFarRxDark, kFarRxLow, kNoPartner,
              kFarSendsUnheard},
    .sometimes = {kLightThere, kTxFault, kRemoteFault},
    .rarely = {kModuleState, kTrainingFails, kModuleNew, kModuleBlind, kNoPcsLock, kHostSilent}};
constexpr Expectations kHot = {
    .decisive = {{{kOverheatReported, 5}, {kModuleHot, 3}}},
    .always = {kModuleHot},
    .often = {kOverheatReported, kErrorsBeforeFall, kLightThere},
    .sometimes = {kNicHot, kLosingData, kFlaps, kTxOff, kSnrLow, kBadSignal, kLinkRecoveries,
                  kFarSendsUnheard, kModuleHeld, kHostSilent},
    .rarely = {kOneLaneErrors, kLaserTires, kTxLow, kLightLow}};
// The module requests more power than the cage provides, and stays in low power.
constexpr Expectations kTooMuchPower = {
    .decisive = {{{kPowerRefused, 6}}},
    .always = {kPowerRefused},
    .often = {kModuleNew, kModuleState, kTxOff, kFarRxDark, kFarSendsUnheard},
    .sometimes = {kLightThere, kNoLight, kFarRxLow, kModuleDiffers, kModuleFaultReported,
                  kModuleHeld, kHostSilent},
    .rarely = {kModuleBlind, kNoPartner}};
constexpr Expectations kMissing = {.decisive = {{{kModuleAbsent, 6}}},
                                   .always = {kModuleAbsent, kNoCableReported},
                                   .often = {kFarRxDark, kFarRxLow},
                                   .sometimes = {kModuleBlind, kModuleFell},
                                   .rarely = {kNoPartner}};
constexpr Expectations kUnsupported = {
    .decisive = {{{kUnsupportedReported, 7}}},
    .always = {kModuleNew, kUnsupportedReported},
    .often = {kTxOff, kLightThere},
    .sometimes = {kNoLight, kFarRxLow, kFarSendsUnheard, kModuleHeld, kHostSilent},
    .rarely = {kModuleState}};
// It may not understand what the far module sends.
constexpr Expectations kOtherModule = {
    .decisive = {{{kModuleDiffers, 3}}},
    .always = {kModuleDiffers, kModuleNew},
    .often = {kLightThere},
    .sometimes = {kNoLight, kNoPcsLock, kNoFecLock, kBadSignal, kNegotiationFails, kTrainingFails,
                  kNoPartner, kRemoteFault, kTxOff, kFarRxLow, kFarSendsUnheard, kNoLockWithLight,
                  kSettingsTouched, kFecDiffers},
    .rarely = {kModuleState, kFarRxDark}};
constexpr Expectations kCable = {
    .decisive = {{{kModuleFaultReported, 4}}},
    .often = {kOneLaneErrors, kLosingData, kErrorsBeforeFall, kFlaps, kFarErrors, kTrainingFails,
              kBadSignal, kFarSendsUnheard},
    .sometimes = {kModuleNew, kLinkRecoveries, kNoFecLock, kNoPartner, kSpeedReduced, kModuleFell,
                  kModuleFaultReported, kRetries, kRemoteFault, kLightLow, kFarRxLow, kNoLight,
                  kSomeLanesDark, kLightThere, kSnrLow, kErrorBursts, kNoPcsLock},
    .rarely = {kNegotiationFails, kTxLow, kTxOff, kTxFault, kModuleState, kHostSilent}};
constexpr Expectations kCableOut = {
    .decisive = {{{kFarErrors, 2}}},
    .always = {kFarErrors},
    .often = {kRetries},
    .sometimes = {kRemoteFault, kLinkRecoveries, kFlaps, kFarRxLow, kTrainingFails},
    .rarely = {kModuleNew}};
constexpr Expectations kSpeed = {.always = {kSpeedReduced}, .rarely = {kRetries, kCongested}};
// A receiver that adapted to a transient.
constexpr Expectations kTrainedBadly = {
    .decisive = {{{kCameBackWorse, 4}}},
    .always = {kCameBackWorse},
    .sometimes = {kSnrLow, kOneLaneErrors, kLosingData, kRetries},
    .rarely = {kErrorBursts, kLinkRecoveries, kFlaps, kFarErrors}};
// The far end is configured by others: that this end was not touched means little.
constexpr Expectations kSettings = {.decisive = {{{kFecDiffers, 4}}},
                                    .always = {kLightThere},
                                    .often = {kSettingsTouched, kNegotiationFails, kNoFecLock},
                                    .sometimes = {kModuleNew, kNoPcsLock, kFecDiffers, kGroupDown,
                                                  kModuleFell, kCardFell, kFellTogether},
                                    .rarely = {kTrainingFails, kNoPartner, kHostSilent}};
// Its consequences (no light, a module in low power) are in no other cause's list.
constexpr Expectations kHeld = {
    .decisive = {{{kModuleHeld, 8}}},
    .always = {kModuleHeld},
    .often = {kTxOff, kFarRxDark},
    .sometimes = {kNoLight, kLightThere, kTxLow, kLightLow, kFarRxLow, kNoPartner, kRemoteFault,
                  kFarSendsUnheard, kModuleState, kModuleNew, kTrainingFails, kNoPcsLock,
                  kNoFecLock, kNegotiationFails, kSomeLanesDark},
    .rarely = {kBadSignal, kNoLockWithLight}};
// This host's signal does not reach its module: a fault of the card or of the module's seating. The
// far end sends.
constexpr Expectations kSilentHost = {
    .decisive = {{{kHostSilent, 5}}},
    .always = {kHostSilent, kLightThere},
    .often = {kRemoteFault},
    .sometimes = {kTxOff, kTxLow, kFarRxDark, kFarRxLow, kNoPartner, kTrainingFails, kNoPcsLock,
                  kNoFecLock, kNegotiationFails, kBadSignal, kNoLockWithLight, kModuleNew},
    .rarely = {kFlaps, kNoLight, kDeviceFatal, kCountersBlind}};
constexpr Expectations kAdmin = {.decisive = {{{kAdminDown, 20}}},
                                 .always = {kAdminDown, kSettingsTouched},
                                 .often = {kTxOff, kFarRxDark, kFarRxLow, kLightThere},
                                 .sometimes = {kNoLight, kFarSendsUnheard, kTxLow},
                                 .rarely = {kNoPartner}};
constexpr Expectations kUnplugged = {
    .decisive = {{{kFarModuleAbsent, 4}}},
    .always = {kNoLight, kNoPartner, kFarRxDark, kFarRxLow, kLightLow, kFarSendsUnheard},
    .sometimes = {kModuleNew, kFarModuleAbsent, kModuleFell},
    .rarely = {kFlaps}};
constexpr Expectations kUnpluggedCable = {.decisive = {{{kModuleAbsent, 6}}},
                                          .always = {kModuleAbsent, kNoCableReported},
                                          .often = {kFarModuleAbsent, kFarRxDark},
                                          .sometimes = {kModuleFell},
                                          .rarely = {kNoPartner}};
constexpr Expectations kUnpluggedFar = {
    .decisive = {{{kFarModuleAbsent, 4}}},
    .always = {kFarModuleAbsent, kNoPartner, kNoLight, kLightLow},
    .sometimes = {kModuleFell}};
constexpr Expectations kFarDown = {.decisive = {{{kFarAdminDown, 6}}},
                                   .always = {kNoLight, kNoPartner, kFarAdminDown},
                                   .often = {kFarTxOff, kFarTxLow},
                                   .sometimes = {kRemoteFault},
                                   .rarely = {kModuleNew, kLightLow, kLightThere, kFlaps,
                                              kGroupDown, kModuleFell, kCardFell, kHostSilent}};
// A far port that can be read while it is down belongs to a running switch: then an administrator
// disabled it, which is visible.
constexpr Expectations kFarStarting = {.always = {kRemoteFault, kFarAdminDown, kLightThere},
                                       .sometimes = {kNoLight},
                                       .rarely = {kFlaps, kNoPartner, kGroupDown}};
constexpr Expectations kSwitchDown = {
    .always = {kGroupDown, kNoLight, kNoPartner},
    .often = {kFarTxOff, kFarTxLow, kFellTogether},
    .sometimes = {kRemoteFault, kLightThere, kGroupFlaps, kModuleFell, kCardFell},
    .rarely = {kModuleNew, kLightLow, kFlaps, kFarAdminDown}};
constexpr Expectations kSwitchErrors = {
    .decisive = {{{kGroupErrors, 3}}},
    .always = {kGroupErrors},
    .often = {kLosingData},
    .sometimes = {kFlaps, kGroupFlaps, kLinkRecoveries, kRetries, kFarErrors, kSnrLow},
    .rarely = {kOneLaneErrors}};
constexpr Expectations kSwitchFlaps = {.decisive = {{{kGroupFlaps, 3}}},
                                       .always = {kGroupFlaps, kFlaps},
                                       .sometimes = {kGroupErrors},
                                       .rarely = {kRetries, kLosingData}};
constexpr Expectations kPcie = {.decisive = {{{kPcieReduced, 4}}},
                                .always = {kPcieReduced},
                                .often = {kHostDrops},
                                .sometimes = {kPcieErrors},
                                .rarely = {kNicHot, kRetries, kCongested}};
constexpr Expectations kPcieAer = {.decisive = {{{kPcieErrors, 2}}},
                                   .always = {kPcieErrors},
                                   .sometimes = {kPcieReduced, kHostDrops}};
constexpr Expectations kNic = {
    .decisive = {{{kDeviceFatal, 8}}},
    .always = {kDeviceFatal},
    .often = {kLightThere, kCardFell, kModuleFell, kHostSilent},
    .sometimes = {kNodeFell, kDeviceGone, kCountersBlind, kRetries, kNoPartner, kTxOff, kModuleHeld,
                  kModuleBlind, kFlaps, kFarSendsUnheard},
    .rarely = {kNicHot, kTrainingFails, kNoLight, kHostDrops}};
// Links to different switches, or of one card, that go down at the same moment have only this node
// in common, whatever reason its drivers give: firmware, the cages' power, a PCIe switch.
constexpr Expectations kThisNode = {
    .decisive = {{{kNodeFell, 3}, {kFellTogether, 3}, {kCardFell, 2}, {kModuleFell, 1}}},
    .often = {kNodeFell, kFellTogether, kCardFell, kNoPartner, kLightThere},
    // the far lasers stay on, but cages without power show no light
    .sometimes = {kModuleFell, kNoLight, kTxOff, kTxLow, kFarRxDark, kFarRxLow, kRemoteFault,
                  kModuleBlind, kNoPcsLock}};
// Fibres of several links that share a trunk for part of their path: all lose their light at the
// same moment.
constexpr Expectations kTrunk = {.decisive = {{{kNodeFell, 3}, {kFellTogether, 3}}},
                                 .always = {kNoLight, kFarSendsUnheard, kFarRxLow, kFarRxDark},
                                 .often = {kNodeFell, kFellTogether, kCardFell, kNoPartner},
                                 .sometimes = {kModuleFell, kBadSignal}};
constexpr Expectations kNicGone = {.decisive = {{{kDeviceGone, 12}}},
                                   .always = {kDeviceGone},
                                   .often = {kDeviceFatal, kCountersBlind, kModuleBlind},
                                   .sometimes = {kLightThere, kHostSilent},
                                   .rarely = {kNicHot, kFlaps}};
constexpr Expectations kHotCard = {.decisive = {{{kNicHot, 4}}},
                                   .always = {kNicHot},
                                   .sometimes = {kPcieReduced, kPcieErrors, kModuleHot, kFlaps},
                                   .rarely = {kLosingData, kLinkRecoveries}};
constexpr Expectations kSlot = {.decisive = {{{kSlotPower, 7}}},
                                .always = {kSlotPower},
                                .often = {kTxOff, kLightThere, kFarRxDark},
                                .sometimes = {kNoLight, kFarSendsUnheard, kModuleHeld, kHostSilent},
                                .rarely = {kNoPartner}};
constexpr Expectations kSupply = {
    .decisive = {{{kSupplyShared, 6}}},
    .always = {kSupplyShared},
    .sometimes = {kFlaps, kLosingData, kModuleState, kTxOff, kLightThere, kFarSendsUnheard},
    .rarely = {kTxLow, kErrorBursts, kNoLight, kErrorsBeforeFall}};
constexpr Expectations kHost = {
    .always = {kHostDrops}, .sometimes = {kRetries}, .rarely = {kCongested}};
constexpr Expectations kCongestion = {
    .always = {kCongested}, .sometimes = {kRetries}, .rarely = {kHostDrops}};
constexpr Expectations kElsewhere = {
    .always = {kRetries}, .sometimes = {kForwardedErrors}, .rarely = {kFarErrors, kCongested}};
// Frames damaged while passing a switch are not necessarily lost for this host: they may not have
// been for it.
constexpr Expectations kUpstream = {
    .always = {kForwardedErrors}, .sometimes = {kRetries}, .rarely = {kFarErrors, kCongested}};
constexpr Expectations kCard = {
    .decisive = {{{kCardErrors, 4}}}, .always = {kCardErrors}, .sometimes = {kRetries, kHostDrops}};
constexpr Expectations kWiring = {.decisive = {{{kNeighbourDiffers, 6}}},
                                  .always = {kNeighbourDiffers},
                                  .sometimes = {kNoPartner},
                                  .rarely = {kNoLight}};
// Only the state of the link behind a virtual function is visible.
constexpr Expectations kLentDown = {
    .sometimes = {kNoPartner, kFlaps, kGroupDown, kTrainingFails, kNoLight, kRemoteFault},
    .rarely = {kNoPcsLock, kBadSignal, kNoFecLock, kNegotiationFails, kLightThere}};
constexpr Expectations kLentFlaps = {
    .always = {kFlaps}, .sometimes = {kGroupFlaps, kLosingData, kLinkRecoveries, kRetries}};
constexpr Expectations kBlindPort = {
    .decisive = {{{kCountersBlind, 3}}}, .always = {kCountersBlind}, .sometimes = {kModuleBlind}};
constexpr Expectations kBlindModule = {.always = {kModuleBlind}};

// Where light is lost, and whether there are errors then.
//                                   none incoming outgoing both far own     dim bright
constexpr LightRow kHealthy{{{.996, .0008, .0008, .0006, .0010, .0008}}, .10, .001};
constexpr LightRow kBright{{{.996, .0008, .0008, .0006, .0010, .0008}}, .20, .005};
constexpr LightRow kBrightErrors{{{.960, .012, .012, .006, .005, .005}}, .97, .97};
constexpr LightRow kMaybeErrors{{{.930, .020, .020, .010, .010, .010}}, .70, .50};
constexpr LightRow kSeldomErrors{{{.970, .006, .006, .006, .006, .006}}, .50, .15};
constexpr LightRow kLossIn{{{.030, .940, .005, .015, .005, .005}}, .90, .05};
constexpr LightRow kLossOut{{{.060, .005, .910, .015, .005, .005}}, .10, .01};
constexpr LightRow kLossBoth{{{.020, .070, .050, .850, .005, .005}}, .85, .03};
constexpr LightRow kLossFarLaser{{{.030, .020, .005, .005, .935, .005}}, .90, .10};
constexpr LightRow kLossOwnLaser{{{.040, .005, .015, .005, .005, .930}}, .05, .01};
constexpr LightRow kCableLoss{{{.700, .120, .060, .060, .030, .030}}, .95, .93};
constexpr LightRow kAnyLight{{{.600, .200, .050, .100, .030, .020}}, .30, .30};
constexpr LightRow kReadingLost{{{.030, .960, .002, .004, .002, .002}}, .02, .02};

// For causes where the ladder of the fault's row would be in vain, or concern the wrong part.
using enum RepairAction;
using Steps = RepairStep;
constexpr Steps kLessPower[] = {
    {kLook,
     "compare the power class of this module ({serial}) with the power that the card's cage "
     "supplies (card manual, firmware settings)"},
    {kModuleReplaced,
     "insert a module within the card's power limit: another one of this type would fail too"}};
constexpr Steps kRightModule[] = {
    {kLook,
     "compare the type of this module ({serial}) with the plan and with the module at {peer}"},
    {kModuleReplaced, "replace it with a module of the expected type"}};
constexpr Steps kCoolCard[] = {
    {kLook, "check the node's fans, its inlet temperature and the airflow at the card"},
    {kCardReplaced, "reseat the card; check its heat sink and airflow"},
    {kCardReplaced, "replace the card"}};
constexpr Steps kPowerSlot[] = {
    {kLook, "check the node's power supplies and the power cable of the slot or riser"},
    {kNodeRebooted, "cold-boot the node and check again"},
    {kCardReplaced, "reseat the card or riser"},
    {kCardReplaced, "replace the card"}};

constexpr std::uint8_t kGlass = kOnOptical | kOnMultimode | kOnUnknown;
constexpr std::uint8_t kSingleMode = kOnOptical | kOnUnknown;
constexpr std::uint8_t kModules = kOnOptical | kOnMultimode | kOnAoc | kOnUnknown;
constexpr std::uint8_t kOnePiece = kOnAoc | kOnCopper | kOnUnknown;
constexpr std::uint8_t kCables = kOnAoc | kOnCopper;
constexpr Cause kCauses[] = {
    // name, fault, prior up, prior down, media, light, expectations
    {"healthy", F::kHealthy, 80, 1e-4, kAnyMedium, kHealthy, kNothing},
    {"dirt, incoming", F::kDirtyConnector, 22, 5, kGlass, kLossIn, kDirtyIn},
    {"dirt, outgoing", F::kDirtyConnector, 7, 2, kGlass, kLossOut, kDirtyOut},
    {"dirt, reflections", F::kDirtyConnector, 2, .5, kSingleMode, kBrightErrors, kReflections},
    {"damaged fibre", F::kDamagedFiber, 9, 8, kGlass, kLossBoth, kFibre},
    {"trunk of several links", F::kDamagedFiber, .001, .03, kGlass, kAnyLight, kTrunk},
    {"far laser", F::kFailingFarTransmitter, 4, 3, kGlass, kLossFarLaser, kFarLaser},
    {"own laser", F::kFailingTransmitter, 4, 3, kGlass, kLossOwnLaser, kOwnLaser},
    {"ageing laser", F::kFailingTransmitter, 1, .01, kGlass, kBright, kTiringLaser},
    {"ageing laser in a cable", F::kFaultyCable, 1, .01, kOnAoc, kBright, kTiringLaser},
    {"own receiver or electronics", F::kBadModule, 14, 8, kGlass, kBrightErrors, kOwnReceiver},
    {"module with error bursts", F::kBadModule, 5, .1, kGlass, kMaybeErrors, kBursting},
    {"far receiver", F::kBadFarModule, 3, 3, kGlass, kBright, kFarReceiver},
    {"loose or failing module", F::kBadModule, 5, .1, kGlass, kSeldomErrors, kLoose},
    {"module control", F::kBadModule, 1, 4, kModules, kAnyLight, kModuleControl},
    {"dead module", F::kBadModule, .01, 3, kGlass, kAnyLight, kDeadModule},
    {"too much power", F::kBadModule, .1, 1, kAnyMedium, kAnyLight, kTooMuchPower, kLessPower,
     "insert a module of a lower power class: the link comes up"},
    {"wrong power reading", F::kBadModule, 3, .001, kModules, kReadingLost, kWrongReading},
    {"far module", F::kBadFarModule, 6, 3, kGlass, kBrightErrors, kFarModule},
    {"overheated", F::kModuleOverheated, 5, 2, kModules, kMaybeErrors, kHot},
    {"overheated retimer", F::kModuleOverheated, .3, .1, kOnCopper, kSeldomErrors, kHot},
    {"no module", F::kModuleMissing, .1, 7, kGlass, kAnyLight, kMissing},
    {"no cable", F::kModuleMissing, .1, 3, kOnePiece, kAnyLight, kMissing},
    {"refused module", F::kModuleUnsupported, .1, 3, kAnyMedium, kAnyLight, kUnsupported},
    {"module of the wrong kind", F::kModuleUnsupported, .01, 2, kAnyMedium, kAnyLight, kOtherModule,
     kRightModule, "insert a module of the previous type: the link comes up"},
    {"cable", F::kFaultyCable, 30, 12, kOnePiece, kCableLoss, kCable},
    {"cable, outgoing", F::kFaultyCable, 1, 1, kCables, kBright, kCableOut},
    {"loose cable", F::kFaultyCable, 6, .1, kOnePiece, kSeldomErrors, kLoose},
    {"slow link", F::kReducedSpeed, 4, .01, kAnyMedium, kBright, kSpeed},
    {"settings", F::kSettingsMismatch, .05, 2, kAnyMedium, kAnyLight, kSettings},
    {"module held off by this host", F::kSettingsMismatch, .01, .05, kModules, kAnyLight, kHeld},
    {"administratively down", F::kAdminDown, .01, 4, kAnyMedium, kAnyLight, kAdmin},
    {"fibre pulled", F::kUnplugged, .01, 11, kGlass, kAnyLight, kUnplugged},
    {"cable pulled", F::kUnplugged, .01, 8, kCables, kAnyLight, kUnpluggedCable},
    {"cable pulled at the far end", F::kUnplugged, .01, 4, kOnePiece, kAnyLight, kUnpluggedFar},
    {"far port down", F::kFarPortDown, .01, 24, kAnyMedium, kAnyLight, kFarDown},
    {"far port starting", F::kFarPortDown, .01, 9, kAnyMedium, kAnyLight, kFarStarting},
    {"far switch down", F::kFarSwitchFault, .01, 4, kAnyMedium, kAnyLight, kSwitchDown},
    {"far switch, errors", F::kFarSwitchFault, 1, .1, kAnyMedium, kBrightErrors, kSwitchErrors},
    {"far switch, flaps", F::kFarSwitchFault, 3, 1, kAnyMedium, kMaybeErrors, kSwitchFlaps},
    {"PCIe", F::kPcieDegraded, 4, .1, kAnyMedium, kBright, kPcie},
    {"PCIe errors", F::kPcieDegraded, 2, .1, kAnyMedium, kBright, kPcieAer},
    {"hot card", F::kPcieDegraded, .3, .1, kAnyMedium, kMaybeErrors, kHotCard, kCoolCard,
     "clear the airflow: the card cools down and PCIe recovers"},
    {"slot without power", F::kPcieDegraded, .01, .2, kAnyMedium, kAnyLight, kSlot, kPowerSlot},
    {"supply of several modules", F::kPcieDegraded, .3, .1, kAnyMedium, kMaybeErrors, kSupply,
     kPowerSlot},
    {"driver or firmware", F::kNicFault, 3, 4, kAnyMedium, kAnyLight, kNic},
    {"no signal from the host", F::kNicFault, .01, .1, kModules, kAnyLight, kSilentHost},
    {"this node", F::kNicFault, .001, .2, kAnyMedium, kAnyLight, kThisNode},
    {"device gone", F::kNicFault, .5, 2, kAnyMedium, kAnyLight, kNicGone},
    {"card loses packets", F::kNicFault, .5, .1, kAnyMedium, kBright, kCard},
    {"slow host", F::kHostBottleneck, 6, .01, kAnyMedium, kBright, kHost},
    {"congestion", F::kCongestion, 6, .01, kAnyMedium, kBright, kCongestion},
    {"loss elsewhere", F::kLossElsewhere, 5, .01, kAnyMedium, kBright, kElsewhere},
    {"frames damaged upstream of the last switch", F::kLossElsewhere, 5, .01, kAnyMedium, kBright,
     kUpstream},
    {"other cable", F::kWrongCabling, 4, .02, kAnyMedium, kBright, kWiring},
    {"link of the provider, down", F::kProviderLink, .01, 60, kAnyMedium, kAnyLight, kLentDown},
    {"link of the provider, flaps", F::kProviderLink, 6, .1, kAnyMedium, kMaybeErrors, kLentFlaps},
    {"port not readable", F::kMonitorBlind, 4, .5, kAnyMedium, kAnyLight, kBlindPort},
    {"module not readable", F::kMonitorBlind, 4, .2, kAnyMedium, kAnyLight, kBlindModule},
    {"receiver trained badly", F::kBadTraining, 2, .001, kAnyMedium, kMaybeErrors, kTrainedBadly},
};

}  // namespace

std::span<const Cause> cause_table() { return kCauses; }
std::uint8_t media_of(FaultId fault) {
  std::uint8_t media = 0;
  for (const Cause& cause : kCauses)
    if (cause.fault == fault) media |= cause.media;
  return media;
}
const Expectations& retraining_expectations() { return kRetraining; }

}  // namespace linkhealth
