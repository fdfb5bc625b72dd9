export { type BootstrapInterval, type BootstrapOptions, caseBootstrap } from "./bootstrap.ts";
export { clopperPearson, upperBound } from "./exact-rate.ts";
export { cohenKappa, type Kappa } from "./kappa.ts";
export { type Flips, mcnemarExact, pairedFlips } from "./paired.ts";
export { minimumDetectableEffect } from "./power.ts";
export { type Random, seededRandom } from "./random.ts";
export { floorIsSafe, passHatK, type RunToRun, requiredMaxDrop, runToRun } from "./repeats.ts";
