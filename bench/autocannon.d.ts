/** The part of autocannon 9 that the benchmarks use; the package has no types. */
declare module "autocannon" {
  interface Options {
    readonly url: string;
    readonly method: "POST";
    readonly connections: number;
    readonly duration: number;
    readonly overallRate?: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly body: string;
  }
  export interface Result {
    readonly "2xx": number;
    readonly non2xx: number;
    readonly errors: number;
    /** Seconds. */
    readonly duration: number;
    /** Milliseconds. */
    readonly latency: { readonly p50: number; readonly p99: number };
  }
  export default function autocannon(options: Options): Promise<Result>;
}
