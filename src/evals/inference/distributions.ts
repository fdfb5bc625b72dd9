// The package ships no types; these are the three functions that are used of it.
// @ts-expect-error no declaration file
import untyped from "jstat";

interface Distributions {
  readonly beta: { inv(probability: number, alpha: number, beta: number): number };
  readonly binomial: { cdf(successes: number, trials: number, probability: number): number };
  readonly normal: { inv(probability: number, mean: number, deviation: number): number };
}

/** Quantiles and distribution functions, from `jstat`. */
export const distributions: Distributions = untyped as Distributions;
