import { describe, expect, it } from "vitest";
import type { Command } from "../../src/cli/command.ts";
import { findCommand } from "../../src/cli/commands.ts";
import { exitCodeOf } from "../../src/cli/exit-code.ts";
import { parseArguments } from "../../src/cli/parse-arguments.ts";
import { createPricesFetch, type FetchFeed, pricesShowCommand } from "../../src/cli/prices.ts";
import { BelayError } from "../../src/errors.ts";
import { KNOWN_PRICES } from "../../src/model/index.ts";
import { SAMPLE_PRODUCTS, samplePriceFeed } from "../model/sample-price-feed.ts";

interface Ran {
  readonly code: number;
  readonly lines: readonly string[];
  readonly json: readonly unknown[];
}

async function run(command: Command, args: readonly string[], signal = new AbortController().signal): Promise<Ran> {
  const lines: string[] = [];
  const json: unknown[] = [];
  const output = {
    line: (...pieces: readonly (string | { readonly text: string })[]) =>
      void lines.push(pieces.map((piece) => (typeof piece === "string" ? piece : piece.text)).join("")),
    json: (value: unknown) => void json.push(value),
    progress: () => undefined,
    transient: () => undefined,
    raw: () => undefined,
  };
  const { positionals, options } = parseArguments(command, args);
  const code = await command.run({ positionals, options, output, cwd: "/", signal });
  return { code, lines, json };
}

const asked: string[] = [];
const answering =
  (body: string | ReadableStream<Uint8Array<ArrayBuffer>>, status = 200): FetchFeed =>
  async (url) => {
    asked.push(url);
    return new Response(body, { status });
  };
const SAMPLE = JSON.stringify(samplePriceFeed(SAMPLE_PRODUCTS));

describe("belay prices show", () => {
  it("prints known prices, and says of the others that their cost is unknown", async () => {
    const { code, lines } = await run(pricesShowCommand, []);
    expect(code).toBe(0);
    expect(lines.find((line) => line.startsWith("amazon.nova-lite-v1:0"))).toMatch(
      / {2}\$0.06 in, \$0.24 out, per million tokens$/,
    );
    const claude = lines.filter((line) => line.startsWith("anthropic."));
    expect(claude.length).toBeGreaterThan(0);
    expect(claude.filter((line) => !line.endsWith("  cost unknown"))).toEqual([]);
  });

  it("prints one model, and null for an unknown one as JSON", async () => {
    expect((await run(pricesShowCommand, ["toString"])).lines).toEqual(["toString  cost unknown"]);
    expect((await run(pricesShowCommand, ["amazon.nova-pro-v1:0", "--json"])).json).toEqual([
      { "amazon.nova-pro-v1:0": { inputUsdPerMillion: 0.8, outputUsdPerMillion: 3.2 } },
    ]);
    expect((await run(pricesShowCommand, ["other", "--json"])).json).toEqual([{ other: null }]);
  });
});

describe("belay prices fetch", () => {
  it("reads the list of the region that is asked for, once", async () => {
    asked.length = 0;
    const { code, json } = await run(createPricesFetch(answering(SAMPLE)), ["--region", "eu-west-1", "--json"]);
    expect(code).toBe(0);
    expect(json).toEqual([KNOWN_PRICES]);
    expect(asked).toEqual([
      expect.stringMatching(/^https:\/\/pricing\..*\/AmazonBedrock\/current\/eu-west-1\/index\.json$/),
    ]);
  });

  it("is a command of the program, and asks for us-east-1 by itself", async () => {
    expect(findCommand(["prices", "fetch", "--json"])).toMatchObject({
      command: { name: "prices fetch" },
      rest: ["--json"],
    });
    asked.length = 0;
    const { lines } = await run(createPricesFetch(answering(SAMPLE)), []);
    expect(asked[0]).toContain("/us-east-1/");
    expect(lines).toHaveLength(3);
  });

  it.each([
    ["an answer that is no success", answering("secret", 503), "HTTP 503"],
    ["an answer that is no JSON", answering("<html>secret</html>"), "is not JSON"],
    ["a list without prices", answering("{}"), "no on-demand token price"],
    ["a network that fails", async () => Promise.reject(new TypeError("secret")), "could not be read"],
    ["a list that never ends", answering(endless()), "is larger than"],
  ] satisfies readonly (readonly [string, FetchFeed, string])[])(
    "says what is wrong with %s",
    async (_, fetchFeed, problem) => {
      const error = await run(createPricesFetch(fetchFeed), []).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "BELAY_PRICE_FEED", message: expect.stringContaining(problem) });
      expect(String((error as Error).message)).not.toContain("secret");
      expect(exitCodeOf(error as BelayError)).toBe(1);
    },
  );

  it("refuses what is no region, and asks nobody", async () => {
    asked.length = 0;
    for (const region of ["us-east-1/../../x", "US", "us_east_1"]) {
      const error = await run(createPricesFetch(answering(SAMPLE)), ["--region", region]).catch(
        (thrown: unknown) => thrown,
      );
      expect(error).toBeInstanceOf(BelayError);
      expect(error).toMatchObject({ code: "BELAY_USAGE" });
    }
    expect(asked).toEqual([]);
  });

  it("ends when the user interrupts", async () => {
    const hanging: FetchFeed = (_, { signal }) =>
      new Promise((_resolve, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const controller = new AbortController();
    const ended = run(createPricesFetch(hanging), [], controller.signal);
    controller.abort();
    await expect(ended).rejects.toMatchObject({ code: "BELAY_PRICE_FEED" });
  });
});

function endless(): ReadableStream<Uint8Array<ArrayBuffer>> {
  const chunk = new Uint8Array(1 << 20).fill(32);
  return new ReadableStream({ pull: (controller) => controller.enqueue(chunk) });
}
