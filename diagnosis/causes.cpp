// The causes: how often each shows which symptom. Their words are judgement (docs/adr/0002) on the
// reasons of docs/physics.md 5 and 7. Correct a number here, and `replay --what-if` shows what it
// changes.
#include "diagnosis/faults.h"

namespace linkhealth {

namespace {

using enum SymptomId;
using enum Often;

// ----------------------------------------------------------------------------- expectations, one
// list a cause Of a link that fell and comes back by itself: both ends train, with light
// (docs/physics.md 7d).
constexpr Expectation kRetraining[] = {{kLightThere, kAlways},       {kRemoteFault, kOften},
                                       {kTrainingFails, kSometimes}, {kNoPcsLock, kSometimes},
                                       {kNoFecLock, kRarely},        {kBadSignal, kRarely},
                                       {kNoPartner, kRarely},        {kNegotiationFails, kRarely}};
constexpr Expectation kDirtyIn[] = {
    {kRemoteFault, kRarely},     {kModuleNew, kSometimes},  {kLightLow, kAlways},
    {kOneLaneErrors, kOften},    {kLosingData, kOften},     {kFlaps, kSometimes},
    {kErrorsBeforeFall, kOften}, {kSomeLanesDark, kOften},  {kBadSignal, kOften},
    {kNoFecLock, kRarely},       {kNoLight, kSometimes},    {kLinkRecoveries, kSometimes},
    {kSnrLow, kSometimes},       {kTrainingFails, kRarely}, {kLightThere, kRarely},
    {kNoPartner, kSometimes},    {kLaneReadsDark, kRarely}, {kNoLockWithLight, kRarely},
    {kFarErrors, kRarely},       {kRetries, kSometimes},    {kSpeedReduced, kRarely},
    {kNoPcsLock, kSometimes},    {kFibresAlike, kRarely},   {kFarSendsUnheard, kAlways}};
constexpr Expectation kDirtyOut[] = {
    {kModuleNew, kSometimes}, {kFarErrors, kOften},     {kRetries, kSometimes},
    {kRemoteFault, kOften},   {kFarRxLow, kAlways},     {kLightThere, kAlways},
    {kFlaps, kRarely},        {kNoFecLock, kRarely},    {kTrainingFails, kRarely},
    {kNoPartner, kRarely},    {kBadSignal, kSometimes}, {kFarRxDark, kRarely},
    {kSpeedReduced, kRarely}, {kNoPcsLock, kSometimes}};
constexpr Expectation kReflections[] = {{kOneLaneErrors, kSometimes},
                                        {kLosingData, kSometimes},
                                        {kSnrLow, kOften},
                                        {kFlaps, kRarely},
                                        {kLightThere, kAlways},
                                        {kErrorsBeforeFall, kAlways},
                                        {kBadSignal, kOften},
                                        {kLinkRecoveries, kRarely},
                                        {kRetries, kRarely}};
constexpr Expectation kFibre[] = {{kRemoteFault, kSometimes},   {kModuleNew, kRarely},
                                  {kLightLow, kAlways},         {kFarRxLow, kOften},
                                  {kLosingData, kOften},        {kFarErrors, kSometimes},
                                  {kNoLight, kOften},           {kSomeLanesDark, kSometimes},
                                  {kFarRxDark, kOften},         {kErrorsBeforeFall, kSometimes},
                                  {kNoPartner, kOften},         {kBadSignal, kSometimes},
                                  {kOneLaneErrors, kSometimes}, {kFlaps, kSometimes},
                                  {kNoFecLock, kRarely},        {kRetries, kSometimes},
                                  {kSnrLow, kSometimes},        {kLinkRecoveries, kSometimes},
                                  {kSpeedReduced, kRarely},     {kNoLockWithLight, kRarely},
                                  {kNoPcsLock, kSometimes},     {kFibresAlike, kOften},
                                  {kFarSendsUnheard, kAlways}};
constexpr Expectation kFarLaser[] = {
    {kRemoteFault, kRarely},   {kLightLow, kAlways},     {kFarTxLow, kAlways},
    {kOneLaneErrors, kAlways}, {kLosingData, kOften},    {kFarTxOff, kSometimes},
    {kSomeLanesDark, kOften},  {kNoLight, kSometimes},   {kErrorsBeforeFall, kOften},
    {kBadSignal, kOften},      {kNoFecLock, kRarely},    {kFlaps, kSometimes},
    {kNoPartner, kSometimes},  {kSnrLow, kSometimes},    {kLinkRecoveries, kSometimes},
    {kRetries, kRarely},       {kSpeedReduced, kRarely}, {kNoPcsLock, kSometimes},
    {kFibresAlike, kSometimes}};
constexpr Expectation kOwnLaser[] = {
    {kModuleNew, kRarely},    {kTxLow, kAlways},         {kTxFault, kSometimes},
    {kBiasHigh, kSometimes},  {kTxOff, kSometimes},      {kFarRxLow, kAlways},
    {kFarErrors, kSometimes}, {kRetries, kSometimes},    {kRemoteFault, kOften},
    {kLightThere, kAlways},   {kFarRxDark, kRarely},     {kFlaps, kSometimes},
    {kNoFecLock, kSometimes}, {kTrainingFails, kRarely}, {kNoPartner, kRarely},
    {kBadSignal, kSometimes}, {kNoPcsLock, kRarely},     {kLaserTires, kSometimes}};
constexpr Expectation kTiringLaser[] = {
    {kLaserTires, kAlways}, {kBiasHigh, kAlways}, {kTxFault, kRarely}};
constexpr Expectation kOwnReceiver[] = {
    {kSupplyLow, kRarely},        {kModuleNew, kSometimes},
    {kOneLaneErrors, kOften},     {kLosingData, kOften},
    {kFlaps, kSometimes},         {kErrorsBeforeFall, kOften},
    {kLinkRecoveries, kRarely},   {kSnrLow, kOften},
    {kLightThere, kAlways},       {kNoLockWithLight, kSometimes},
    {kBadSignal, kOften},         {kNoFecLock, kSometimes},
    {kTrainingFails, kSometimes}, {kModuleState, kRarely},
    {kFarErrors, kSometimes},     {kRetries, kRarely},
    {kSpeedReduced, kRarely},     {kBiasHigh, kRarely},
    {kRemoteFault, kRarely},      {kNoPartner, kRarely},
    {kModuleBlind, kRarely},      {kTxOff, kRarely},
    {kNoLight, kRarely},          {kNoPcsLock, kSometimes},
    {kFibresAlike, kRarely},      {kFarSendsUnheard, kOften}};
constexpr Expectation kBursting[] = {{kErrorBursts, kAlways}, {kLosingData, kAlways},
                                     {kFlaps, kSometimes},    {kOneLaneErrors, kRarely},
                                     {kRetries, kSometimes},  {kLinkRecoveries, kSometimes}};
constexpr Expectation kFarReceiver[] = {{kFarErrors, kAlways},
                                        {kRetries, kOften},
                                        {kRemoteFault, kOften},
                                        {kLightThere, kAlways},
                                        {kFlaps, kSometimes}};
constexpr Expectation kLoose[] = {
    {kFlaps, kAlways},         {kErrorBursts, kSometimes}, {kLinkRecoveries, kSometimes},
    {kLosingData, kSometimes}, {kRetries, kRarely},        {kModuleState, kRarely}};
constexpr Expectation kFarModule[] = {
    {kOneLaneErrors, kOften},    {kLosingData, kOften},         {kFlaps, kSometimes},
    {kErrorsBeforeFall, kOften}, {kLinkRecoveries, kSometimes}, {kSnrLow, kOften},
    {kLightThere, kOften},       {kNoLight, kSometimes},        {kBadSignal, kSometimes},
    {kNoFecLock, kSometimes},    {kTrainingFails, kSometimes},  {kFarErrors, kSometimes},
    {kRetries, kSometimes},      {kRemoteFault, kSometimes},    {kNoPartner, kSometimes},
    {kSpeedReduced, kSometimes}, {kFarTxOff, kRarely},          {kNoPcsLock, kSometimes}};
constexpr Expectation kWrongReading[] = {{kLaneReadsDark, kAlways}, {kLightLow, kAlways}};
constexpr Expectation kModuleControl[] = {
    {kSupplyLow, kSometimes}, {kModuleNew, kSometimes},  {kModuleFaultReported, kAlways},
    {kModuleState, kOften},   {kModuleBlind, kOften},    {kModuleAbsent, kRarely},
    {kTxOff, kOften},         {kLightThere, kSometimes}, {kNoLight, kSometimes},
    {kFlaps, kRarely},        {kFarRxDark, kOften},      {kFarRxLow, kSometimes},
    {kNoPartner, kRarely},    {kFarSendsUnheard, kOften}};
// It neither sends nor listens, and says nothing of why.
constexpr Expectation kDeadModule[] = {
    {kTxOff, kAlways},          {kTxLow, kAlways},          {kNoLight, kOften},
    {kLightLow, kOften},        {kLightThere, kSometimes},  {kFarRxDark, kOften},
    {kFarRxLow, kOften},        {kTxFault, kSometimes},     {kModuleState, kRarely},
    {kNoPartner, kOften},       {kRemoteFault, kSometimes}, {kTrainingFails, kRarely},
    {kFarSendsUnheard, kOften}, {kModuleNew, kRarely},      {kModuleBlind, kRarely},
    {kNoPcsLock, kRarely}};
constexpr Expectation kHot[] = {{kNicHot, kSometimes},
                                {kModuleHot, kAlways},
                                {kOverheatReported, kOften},
                                {kLosingData, kSometimes},
                                {kFlaps, kSometimes},
                                {kErrorsBeforeFall, kOften},
                                {kLightThere, kOften},
                                {kOneLaneErrors, kRarely},
                                {kBiasHigh, kSometimes},
                                {kLaserTires, kRarely},
                                {kTxLow, kRarely},
                                {kLightLow, kRarely},
                                {kTxOff, kSometimes},
                                {kSnrLow, kSometimes},
                                {kBadSignal, kSometimes},
                                {kLinkRecoveries, kSometimes},
                                {kFarSendsUnheard, kSometimes}};
constexpr Expectation kMissing[] = {{kModuleAbsent, kAlways}, {kNoCableReported, kAlways},
                                    {kFarRxDark, kOften},     {kFarRxLow, kOften},
                                    {kNoPartner, kRarely},    {kModuleBlind, kSometimes}};
constexpr Expectation kUnsupported[] = {{kModuleNew, kAlways},   {kUnsupportedReported, kAlways},
                                        {kTxOff, kOften},        {kLightThere, kOften},
                                        {kModuleState, kRarely}, {kNoLight, kSometimes},
                                        {kFarRxLow, kSometimes}, {kFarSendsUnheard, kSometimes}};
constexpr Expectation kCable[] = {{kModuleNew, kSometimes},
                                  {kOneLaneErrors, kOften},
                                  {kLosingData, kOften},
                                  {kErrorsBeforeFall, kOften},
                                  {kFlaps, kOften},
                                  {kFarErrors, kOften},
                                  {kLinkRecoveries, kSometimes},
                                  {kTrainingFails, kOften},
                                  {kBadSignal, kOften},
                                  {kNoFecLock, kSometimes},
                                  {kNegotiationFails, kRarely},
                                  {kNoPartner, kSometimes},
                                  {kSpeedReduced, kSometimes},
                                  {kModuleFaultReported, kSometimes},
                                  {kRetries, kSometimes},
                                  {kRemoteFault, kSometimes},
                                  {kLightLow, kSometimes},
                                  {kFarRxLow, kSometimes},
                                  {kTxLow, kRarely},
                                  {kNoLight, kSometimes},
                                  {kSomeLanesDark, kSometimes},
                                  {kLightThere, kSometimes},
                                  {kSnrLow, kSometimes},
                                  {kErrorBursts, kSometimes},
                                  {kTxOff, kRarely},
                                  {kTxFault, kRarely},
                                  {kModuleState, kRarely},
                                  {kNoPcsLock, kSometimes},
                                  {kFarSendsUnheard, kOften}};
constexpr Expectation kCableOut[] = {{kFarErrors, kAlways},      {kRetries, kOften},
                                     {kRemoteFault, kSometimes}, {kLinkRecoveries, kSometimes},
                                     {kFlaps, kSometimes},       {kModuleNew, kRarely},
                                     {kFarRxLow, kSometimes},    {kTrainingFails, kSometimes}};
constexpr Expectation kSpeed[] = {
    {kSpeedReduced, kAlways}, {kRetries, kRarely}, {kCongested, kRarely}};
constexpr Expectation kSettings[] = {{kModuleNew, kSometimes},    {kNegotiationFails, kOften},
                                     {kSettingsTouched, kAlways}, {kLightThere, kAlways},
                                     {kNoFecLock, kOften},        {kTrainingFails, kRarely},
                                     {kNoPartner, kRarely},       {kNoPcsLock, kSometimes}};
constexpr Expectation kAdmin[] = {
    {kAdminDown, kAlways},  {kTxOff, kOften},      {kSettingsTouched, kAlways},
    {kFarRxDark, kOften},   {kFarRxLow, kOften},   {kLightThere, kOften},
    {kNoLight, kSometimes}, {kNoPartner, kRarely}, {kFarSendsUnheard, kSometimes}};
constexpr Expectation kUnplugged[] = {{kModuleNew, kSometimes},       {kNoLight, kAlways},
                                      {kNoPartner, kAlways},          {kFarRxDark, kAlways},
                                      {kFarModuleAbsent, kSometimes}, {kFarRxLow, kAlways},
                                      {kLightLow, kAlways},           {kFlaps, kRarely},
                                      {kFarSendsUnheard, kAlways}};
constexpr Expectation kUnpluggedCable[] = {{kModuleAbsent, kAlways},
                                           {kNoCableReported, kAlways},
                                           {kNoPartner, kRarely},
                                           {kFarModuleAbsent, kOften},
                                           {kFarRxDark, kOften}};
constexpr Expectation kUnpluggedFar[] = {
    {kFarModuleAbsent, kAlways}, {kNoPartner, kAlways}, {kNoLight, kAlways}, {kLightLow, kAlways}};
constexpr Expectation kFarDown[] = {
    {kModuleNew, kRarely},    {kNoLight, kAlways},          {kNoPartner, kAlways},
    {kFarAdminDown, kAlways}, {kFarTxOff, kOften},          {kRemoteFault, kSometimes},
    {kGroupDown, kSometimes}, {kFarTxLow, kOften},          {kLightLow, kRarely},
    {kLightThere, kRarely},   {kNegotiationFails, kRarely}, {kFlaps, kRarely}};
// Whose port is read while it is down has a switch that runs: then an administrator did it, and
// that is seen.
constexpr Expectation kFarStarting[] = {
    {kRemoteFault, kAlways}, {kFarAdminDown, kAlways}, {kFlaps, kRarely},    {kLightThere, kAlways},
    {kNoLight, kSometimes},  {kGroupDown, kSometimes}, {kNoPartner, kRarely}};
constexpr Expectation kSwitchDown[] = {
    {kModuleNew, kRarely},     {kGroupDown, kAlways},      {kNoLight, kOften},
    {kNoPartner, kOften},      {kFarTxOff, kOften},        {kFarTxLow, kOften},
    {kLightLow, kRarely},      {kRemoteFault, kSometimes}, {kLightThere, kSometimes},
    {kGroupFlaps, kSometimes}, {kFlaps, kRarely},          {kFarAdminDown, kRarely}};
constexpr Expectation kSwitchErrors[] = {
    {kGroupErrors, kAlways}, {kLosingData, kOften},     {kOneLaneErrors, kRarely},
    {kFlaps, kSometimes},    {kGroupFlaps, kSometimes}, {kLinkRecoveries, kSometimes},
    {kRetries, kSometimes},  {kFarErrors, kSometimes},  {kSnrLow, kSometimes}};
constexpr Expectation kSwitchFlaps[] = {{kGroupFlaps, kAlways},
                                        {kFlaps, kAlways},
                                        {kRetries, kRarely},
                                        {kGroupErrors, kSometimes},
                                        {kLosingData, kRarely}};
constexpr Expectation kPcie[] = {{kNicHot, kRarely},        {kPcieReduced, kAlways},
                                 {kPcieErrors, kSometimes}, {kHostDrops, kOften},
                                 {kRetries, kRarely},       {kCongested, kRarely}};
constexpr Expectation kPcieAer[] = {
    {kPcieErrors, kAlways}, {kPcieReduced, kSometimes}, {kHostDrops, kSometimes}};
constexpr Expectation kNic[] = {
    {kNicHot, kRarely},           {kDeviceFatal, kAlways},       {kDeviceGone, kSometimes},
    {kCountersBlind, kSometimes}, {kRetries, kSometimes},        {kLightThere, kOften},
    {kNoPartner, kSometimes},     {kTrainingFails, kRarely},     {kTxOff, kSometimes},
    {kModuleBlind, kSometimes},   {kNoLight, kRarely},           {kFlaps, kSometimes},
    {kHostDrops, kRarely},        {kFarSendsUnheard, kSometimes}};
constexpr Expectation kNicGone[] = {{kPcieLost, kSometimes},   {kNicHot, kRarely},
                                    {kDeviceGone, kAlways},    {kDeviceFatal, kOften},
                                    {kCountersBlind, kOften},  {kModuleBlind, kOften},
                                    {kLightThere, kSometimes}, {kFlaps, kRarely}};
constexpr Expectation kHotCard[] = {{kNicHot, kAlways},        {kPcieReduced, kSometimes},
                                    {kPcieErrors, kSometimes}, {kModuleHot, kSometimes},
                                    {kFlaps, kSometimes},      {kLosingData, kRarely},
                                    {kLinkRecoveries, kRarely}};
constexpr Expectation kSlot[] = {{kSlotPower, kAlways},         {kTxOff, kOften},
                                 {kNoLight, kSometimes},        {kLightThere, kOften},
                                 {kFarRxDark, kOften},          {kNoPartner, kRarely},
                                 {kFarSendsUnheard, kSometimes}};
constexpr Expectation kSupply[] = {
    {kSupplyShared, kAlways}, {kSupplyLow, kAlways},        {kTxLow, kRarely},
    {kFlaps, kSometimes},     {kLosingData, kSometimes},    {kModuleState, kSometimes},
    {kTxOff, kSometimes},     {kLightThere, kSometimes},    {kErrorBursts, kRarely},
    {kNoLight, kRarely},      {kErrorsBeforeFall, kRarely}, {kFarSendsUnheard, kSometimes}};
constexpr Expectation kHost[] = {
    {kHostDrops, kAlways}, {kRetries, kSometimes}, {kCongested, kRarely}};
constexpr Expectation kCongestion[] = {
    {kCongested, kAlways}, {kRetries, kSometimes}, {kHostDrops, kRarely}};
constexpr Expectation kElsewhere[] = {{kRetries, kAlways},
                                      {kForwardedErrors, kSometimes},
                                      {kFarErrors, kRarely},
                                      {kCongested, kRarely}};
// What was damaged on its way through a switch need not be missed by this host: it may not have
// been for it.
constexpr Expectation kUpstream[] = {{kForwardedErrors, kAlways},
                                     {kRetries, kSometimes},
                                     {kFarErrors, kRarely},
                                     {kCongested, kRarely}};
constexpr Expectation kCard[] = {
    {kCardErrors, kAlways}, {kRetries, kSometimes}, {kHostDrops, kSometimes}};
constexpr Expectation kWiring[] = {
    {kNeighbourDiffers, kAlways}, {kNoPartner, kSometimes}, {kNoLight, kRarely}};
constexpr Expectation kBlindPort[] = {{kCountersBlind, kAlways}, {kModuleBlind, kSometimes}};
constexpr Expectation kBlindModule[] = {{kModuleBlind, kAlways}};

// ------------------------------------------------------------------------------------------------
// decisive rows
constexpr Decisive kDecideAdmin[] = {{kAdminDown, 20}};
constexpr Decisive kDecideMissing[] = {{kModuleAbsent, 6}};
constexpr Decisive kDecideUnsupported[] = {{kUnsupportedReported, 7}};
constexpr Decisive kDecideControl[] = {{kModuleFaultReported, 5}};
constexpr Decisive kDecideHot[] = {{kOverheatReported, 5}, {kModuleHot, 3}};
constexpr Decisive kDecideFarDown[] = {{kFarAdminDown, 6}};
constexpr Decisive kDecideNic[] = {{kDeviceFatal, 8}};
constexpr Decisive kDecideCard[] = {{kCardErrors, 4}};
constexpr Decisive kDecideGone[] = {{kDeviceGone, 12}};
constexpr Decisive kDecideWiring[] = {{kNeighbourDiffers, 6}};
constexpr Decisive kDecideReading[] = {{kLaneReadsDark, 5}};
constexpr Decisive kDecideCable[] = {{kModuleFaultReported, 4}};
constexpr Decisive kDecideCableOut[] = {{kFarErrors, 2}};
constexpr Decisive kDecideTiring[] = {{kLaserTires, 4}};
constexpr Decisive kDecideUnplugged[] = {{kFarModuleAbsent, 4}};
constexpr Decisive kDecideSwitchErrors[] = {{kGroupErrors, 3}};
constexpr Decisive kDecideSwitchFlaps[] = {{kGroupFlaps, 3}};
constexpr Decisive kDecidePcie[] = {{kPcieReduced, 4}};
constexpr Decisive kDecideAer[] = {{kPcieErrors, 2}};
constexpr Decisive kDecideHotCard[] = {{kNicHot, 4}};
constexpr Decisive kDecideSlot[] = {{kSlotPower, 7}};
constexpr Decisive kDecideSupply[] = {{kSupplyShared, 6}};
constexpr Decisive kDecideBlind[] = {{kCountersBlind, 3}};

// ----------------------------------------------------------------------------- joint rows: where
// light is lost; errors
//                                     none incoming outgoing both far own   dim bright
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

// The table itself: healthy first.
constexpr std::uint8_t kGlass = kOnOptical | kOnMultimode | kOnUnknown;
constexpr std::uint8_t kSingleMode = kOnOptical | kOnUnknown;
constexpr std::uint8_t kModules = kOnOptical | kOnMultimode | kOnAoc | kOnUnknown;
constexpr std::uint8_t kOnePiece = kOnAoc | kOnCopper | kOnUnknown;
constexpr Cause kCauses[] = {
    // name, fault, end, prior up, prior down, media, light, expects, decisive
    {"healthy", "healthy", End::kNone, 80, 1e-4, kAnyMedium, kHealthy, {}, {}},
    {"dirt, incoming", "dirty_connector", End::kPath, 22, 5, kGlass, kLossIn, kDirtyIn, {}},
    {"dirt, outgoing", "dirty_connector", End::kPath, 7, 2, kGlass, kLossOut, kDirtyOut, {}},
    {"dirt, reflections",
     "dirty_connector",
     End::kPath,
     2,
     .5,
     kSingleMode,
     kBrightErrors,
     kReflections,
     {}},
    {"damaged fibre", "damaged_fiber", End::kPath, 9, 8, kGlass, kLossBoth, kFibre, {}},
    {"far laser", "failing_transmitter", End::kFar, 4, 3, kGlass, kLossFarLaser, kFarLaser, {}},
    {"own laser", "failing_transmitter", End::kLocal, 4, 3, kGlass, kLossOwnLaser, kOwnLaser, {}},
    {"tiring laser", "failing_transmitter", End::kLocal, 1, .01, kGlass, kBright, kTiringLaser,
     kDecideTiring},
    {"tiring laser of a cable", "faulty_cable", End::kPath, 1, .01, kOnAoc, kBright, kTiringLaser,
     kDecideTiring},
    {"own receiver or electronics",
     "bad_module",
     End::kLocal,
     14,
     8,
     kGlass,
     kBrightErrors,
     kOwnReceiver,
     {}},
    {"bursting module", "bad_module", End::kLocal, 5, .1, kGlass, kMaybeErrors, kBursting, {}},
    {"far receiver", "bad_module", End::kFar, 3, 3, kGlass, kBright, kFarReceiver, {}},
    {"loose or dying module", "bad_module", End::kLocal, 5, .1, kGlass, kSeldomErrors, kLoose, {}},
    {"module control", "bad_module", End::kLocal, 1, 4, kModules, kAnyLight, kModuleControl,
     kDecideControl},
    {"dead module", "bad_module", End::kLocal, .01, 3, kGlass, kAnyLight, kDeadModule, {}},
    {"wrong power reading", "bad_module", End::kLocal, 3, .001, kModules, kReadingLost,
     kWrongReading, kDecideReading},
    {"far module", "bad_module", End::kFar, 6, 3, kGlass, kBrightErrors, kFarModule, {}},
    {"overheated", "module_overheated", End::kLocal, 5, 2, kModules, kMaybeErrors, kHot,
     kDecideHot},
    {"overheated retimer", "module_overheated", End::kLocal, .3, .1, kOnCopper, kSeldomErrors, kHot,
     kDecideHot},
    {"no module", "module_missing", End::kLocal, .1, 7, kGlass, kAnyLight, kMissing,
     kDecideMissing},
    {"no cable", "module_missing", End::kLocal, .1, 3, kOnePiece, kAnyLight, kMissing,
     kDecideMissing},
    {"refused module", "module_unsupported", End::kLocal, .1, 3, kAnyMedium, kAnyLight,
     kUnsupported, kDecideUnsupported},
    {"cable", "faulty_cable", End::kPath, 30, 12, kOnePiece, kCableLoss, kCable, kDecideCable},
    {"cable, outgoing", "faulty_cable", End::kPath, 1, 1, kOnAoc | kOnCopper, kBright, kCableOut,
     kDecideCableOut},
    {"loose cable", "faulty_cable", End::kPath, 6, .1, kOnePiece, kSeldomErrors, kLoose, {}},
    {"slow link", "reduced_speed", End::kPath, 4, .01, kAnyMedium, kBright, kSpeed, {}},
    {"settings", "settings_mismatch", End::kPath, .05, 9, kAnyMedium, kAnyLight, kSettings, {}},
    {"set down", "admin_down", End::kLocal, .01, 4, kAnyMedium, kAnyLight, kAdmin, kDecideAdmin},
    {"fibre pulled", "unplugged", End::kPath, .01, 11, kGlass, kAnyLight, kUnplugged,
     kDecideUnplugged},
    {"cable pulled", "unplugged", End::kPath, .01, 8, kOnAoc | kOnCopper, kAnyLight,
     kUnpluggedCable, kDecideMissing},
    {"cable pulled at the far end", "unplugged", End::kPath, .01, 4, kOnePiece, kAnyLight,
     kUnpluggedFar, kDecideUnplugged},
    {"far port down", "far_port_down", End::kFar, .01, 24, kAnyMedium, kAnyLight, kFarDown,
     kDecideFarDown},
    {"far port starting",
     "far_port_down",
     End::kFar,
     .01,
     9,
     kAnyMedium,
     kAnyLight,
     kFarStarting,
     {}},
    {"far switch down",
     "far_switch_fault",
     End::kFar,
     .01,
     4,
     kAnyMedium,
     kAnyLight,
     kSwitchDown,
     {}},
    {"far switch, errors", "far_switch_fault", End::kFar, 1, .1, kAnyMedium, kBrightErrors,
     kSwitchErrors, kDecideSwitchErrors},
    {"far switch, flaps", "far_switch_fault", End::kFar, 3, 1, kAnyMedium, kMaybeErrors,
     kSwitchFlaps, kDecideSwitchFlaps},
    {"PCIe", "pcie_degraded", End::kNode, 4, .1, kAnyMedium, kBright, kPcie, kDecidePcie},
    {"PCIe errors", "pcie_degraded", End::kNode, 2, .1, kAnyMedium, kBright, kPcieAer, kDecideAer},
    {"hot card", "pcie_degraded", End::kNode, .3, .1, kAnyMedium, kMaybeErrors, kHotCard,
     kDecideHotCard},
    {"slot without power", "pcie_degraded", End::kNode, .01, .2, kAnyMedium, kAnyLight, kSlot,
     kDecideSlot},
    {"supply of several modules", "pcie_degraded", End::kNode, .3, .1, kAnyMedium, kMaybeErrors,
     kSupply, kDecideSupply},
    {"driver or firmware", "nic_fault", End::kNode, 3, 4, kAnyMedium, kAnyLight, kNic, kDecideNic},
    {"device gone", "nic_fault", End::kNode, .5, 2, kAnyMedium, kAnyLight, kNicGone, kDecideGone},
    {"card that loses packets", "nic_fault", End::kNode, .5, .1, kAnyMedium, kBright, kCard,
     kDecideCard},
    {"slow host", "host_bottleneck", End::kNode, 6, .01, kAnyMedium, kBright, kHost, {}},
    {"congestion", "congestion", End::kFabric, 6, .01, kAnyMedium, kBright, kCongestion, {}},
    {"loss elsewhere", "loss_elsewhere", End::kFabric, 5, .01, kAnyMedium, kBright, kElsewhere, {}},
    {"damage before the last switch",
     "loss_elsewhere",
     End::kFabric,
     5,
     .01,
     kAnyMedium,
     kBright,
     kUpstream,
     {}},
    {"other cable", "wrong_cabling", End::kPath, 4, .02, kAnyMedium, kBright, kWiring,
     kDecideWiring},
    {"port not readable", "monitor_blind", End::kNode, 4, .5, kAnyMedium, kAnyLight, kBlindPort,
     kDecideBlind},
    {"module not readable",
     "monitor_blind",
     End::kNode,
     4,
     .2,
     kAnyMedium,
     kAnyLight,
     kBlindModule,
     {}},
};

}  // namespace

double probability(Often often) {
  switch (often) {
    case kAlways:
      return 0.95;
    case kOften:
      return 0.6;
    case kSometimes:
      return 0.25;
    case kRarely:
      return 0.05;
    case kNever:
      return 0.005;
  }
  return 0.005;
}

std::span<const Cause> cause_table() { return kCauses; }
std::span<const Expectation> retraining_expects() { return kRetraining; }

}  // namespace linkhealth
