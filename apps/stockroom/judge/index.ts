import { readFileSync } from "node:fs";
import { type CalibrationItem, parseCalibration } from "belay-harness/evals";

/**
 * 24 answers that people graded, half of them right, and 8 probes for biases: one pair of answers in both orders, a
 * short and a long one, and one under two authors.
 */
export function calibrationSet(): readonly CalibrationItem[] {
  const text = readFileSync(new URL("calibration.jsonl", import.meta.url), "utf8");
  return parseCalibration(text, "apps/stockroom/judge/calibration.jsonl");
}
