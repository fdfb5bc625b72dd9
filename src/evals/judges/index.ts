export { type Calibration, calibrate, formatCalibration } from "./calibrate.ts";
export { type Bias, type CalibrationItem, parseCalibration } from "./calibration-set.ts";
export { type ClaimChecker, claimsOf, type LexicalOptions, lexicalChecker, modelChecker } from "./claims.ts";
export { fakeJudge } from "./fake-judge.ts";
export type { Grade, GradedAnswer, Judge } from "./judge.ts";
export { type JudgedSuite, judgedShare, judgeSuite } from "./judge-suite.ts";
export { modelJudge } from "./model-judge.ts";
export { averagePrecision, contextPrecision, contextRecall, faithfulness } from "./retrieval-metrics.ts";
export { RUBRIC_VERSIONS, type RubricVersion, readRubric, rubricText } from "./rubric.ts";
