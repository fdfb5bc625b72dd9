import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { resolveModel } from "../../src/cli/model-spec.ts";
import { OPENAI_COMPATIBLE, startWireServer, WIRE_FORMATS, type WireReply } from "../adapters/ai-sdk/wire/index.ts";
import { belay, jsonOf, makeFolder } from "./belay.ts";

const TIMEOUT_MS = 60_000;
const FREE = ["--price-input", "0", "--price-output", "0"];
const KEYS = {
  OPENAI_API_KEY: "sk-secret",
  ANTHROPIC_API_KEY: "sk-secret",
  GOOGLE_GENERATIVE_AI_API_KEY: "sk-secret",
  AWS_REGION: "eu-central-1",
};
const REQUEST = {
  system: "",
  messages: [{ role: "user", text: "Hi" }],
  tools: [],
  replyTokensMax: 9,
  temperature: 0,
} as const;

const answer = (reply: WireReply) => ({ kind: "json", body: OPENAI_COMPATIBLE.json(reply) }) as const;

describe("resolveModel", () => {
  const refused = (spec: string, options: Partial<Parameters<typeof resolveModel>[1]> = {}) =>
    resolveModel(spec, { allowNetwork: true, env: KEYS, ...options });

  it.each([
    "",
    "gpt-5",
    "openai",
    "openai:",
    "other:model",
    "constructor:x",
    "openai:two words",
    "ftp://127.0.0.1/#m",
    "http://127.0.0.1:1/v1",
    "http://127.0.0.1:1/v1#",
    "http://me:secret@127.0.0.1/v1#m",
    "http://127.0.0.1/v1?key=secret#m",
  ])("refuses %j, which names no model, and does not repeat a secret", async (spec) => {
    await expect(refused(spec)).rejects.toMatchObject({
      code: "BELAY_USAGE",
      message: expect.not.stringContaining("secret"),
    });
  });

  it.each([
    "openai:gpt-5",
    "anthropic:claude",
    "google:gemini",
    "bedrock:amazon.nova-lite-v1:0",
    "http://example.com/v1#m",
    "https://192.168.0.1/v1#m",
    "http://localhost.example.com/v1#m",
    "http://127.0.0.1.example.com/v1#m",
    "http://0.0.0.0/v1#m",
    "http://[::ffff:10.0.0.1]/v1#m",
    "http://2130706434.example.com/v1#m",
  ])("contacts nothing outside this machine without leave: %s", async (spec) => {
    await expect(refused(spec, { allowNetwork: false })).rejects.toMatchObject({
      code: "BELAY_NETWORK_REFUSED",
      message: expect.stringContaining("--allow-network"),
    });
  });

  it("does not trust a variable that points elsewhere", async () => {
    const env = { ...KEYS, OPENAI_BASE_URL: "https://example.com/v1" };
    await expect(refused("openai:gpt-5", { allowNetwork: false, env })).rejects.toMatchObject({
      code: "BELAY_NETWORK_REFUSED",
      message: expect.stringContaining("example.com"),
    });
    await expect(refused("openai:m", { env: { ...KEYS, OPENAI_BASE_URL: "nowhere" } })).rejects.toMatchObject({
      code: "BELAY_USAGE",
    });
  });

  it.each([
    ["openai:gpt-5", "OPENAI_API_KEY"],
    ["anthropic:claude", "ANTHROPIC_API_KEY"],
    ["google:gemini", "GOOGLE_GENERATIVE_AI_API_KEY"],
    ["bedrock:amazon.nova-lite-v1:0", "AWS_REGION"],
  ])("says which variable %s needs", async (spec, variable) => {
    for (const env of [{}, { ...KEYS, [variable]: "" }]) {
      await expect(refused(spec, { env })).rejects.toMatchObject({
        code: "BELAY_MODEL_AUTH",
        message: expect.stringContaining(variable),
      });
    }
  });

  it.each([
    ["http://example.com/v1#m", { BELAY_MODEL_API_KEY: "sk-secret" }],
    ["openai:m", { OPENAI_API_KEY: "sk-secret", OPENAI_BASE_URL: "http://example.com/v1" }],
  ])("sends no key in clear text: %s", async (spec, env) => {
    await expect(refused(spec, { env })).rejects.toMatchObject({ code: "BELAY_NETWORK_REFUSED" });
  });

  it.each([
    ["openai:wire-model", "OPENAI_BASE_URL", "/v1", "OpenAI responses"],
    ["anthropic:wire-model", "ANTHROPIC_BASE_URL", "/v1", "Anthropic messages"],
    ["google:wire-model", "GOOGLE_GENERATIVE_AI_BASE_URL", "/v1beta", "Google generateContent"],
  ])("asks %s where %s says", async (spec, variable, path, name) => {
    const format = WIRE_FORMATS.find((each) => each.name === name);
    await using server = await startWireServer([{ kind: "json", body: format?.json({ text: "Hello" }) }]);
    const env = { ...KEYS, [variable]: `${server.url}${path}` };
    const client = await resolveModel(spec, { allowNetwork: false, env });
    expect(client.id).toBe(spec);
    expect(await client.generate(REQUEST, { signal: new AbortController().signal })).toMatchObject({ text: "Hello" });
    expect(server.requests[0]?.path).toContain(path);
    if (name === "OpenAI responses") expect(server.requests[0]?.body).toMatchObject({ store: false });
  });

  it("asks an OpenAI-compatible server for the model after the #, with a key only when there is one", async () => {
    await using server = await startWireServer([answer({ text: "Hello" })]);
    for (const [env, authorization] of [
      [{}, undefined],
      [{ BELAY_MODEL_API_KEY: "sk-local" }, "Bearer sk-local"],
    ] as const) {
      const client = await resolveModel(`${server.url}/v1/#library%2Fllama`, { allowNetwork: false, env });
      expect(client.id).toBe(`${server.url}/v1#library/llama`);
      await client.generate(REQUEST, { signal: new AbortController().signal });
      expect(server.requests.at(-1)).toMatchObject({ path: "/v1/chat/completions", body: { model: "library/llama" } });
      expect(server.requests.at(-1)?.headers.authorization).toBe(authorization);
    }
  });

  it("follows no redirect, which could lead anywhere", async () => {
    await using elsewhere = await startWireServer([answer({ text: "Hello" })]);
    await using server = await startWireServer([
      { kind: "json", status: 307, headers: { location: `${elsewhere.url}/v1/chat/completions` }, body: {} },
    ]);
    const client = await resolveModel(`${server.url}/v1#m`, { allowNetwork: false, env: {} });
    await expect(client.generate(REQUEST, { signal: new AbortController().signal })).rejects.toMatchObject({
      code: "BELAY_MODEL_UNAVAILABLE",
    });
    expect(elsewhere.requests).toEqual([]);
  });
});

describe("belay run --model", () => {
  it(
    "lets the model lead the run, under the app's own rules, and a person's yes go on with it",
    async () => {
      const folder = makeFolder();
      await using server = await startWireServer([
        answer({ calls: [{ id: "a", name: "pay", args: '{"account":"alice","amount":50}' }] }),
        answer({ calls: [{ id: "b", name: "pay", args: '{"account":"alice","amount":500}' }] }),
        answer({ text: "All paid." }),
      ]);
      const model = ["--model", `${server.url}/v1#m`, ...FREE];
      const run = jsonOf<{ status: string; approvals: { approvalId: string }[] }>(
        await belay(folder, ["run", "bank", "Please pay alice twice", "--json", ...model]),
      );
      expect(run).toMatchObject({ status: "waiting" });
      const approvalId = run.approvals[0]?.approvalId ?? "none";
      const approved = await belay(folder, ["approve", approvalId, "--by", "dana", ...model]);
      expect(approved.stderr).toBe("");
      expect(approved.stdout).toContain("All paid.");
      expect(server.requests.length).toBe(3);
    },
    TIMEOUT_MS,
  );

  it(
    "says what is missing before anything is asked",
    async () => {
      const folder = makeFolder();
      await using server = await startWireServer([answer({ text: "Hello" })]);
      const url = `${server.url}/v1#m`;
      const cases: readonly (readonly [readonly string[], string, Readonly<Record<string, string>>])[] = [
        [["--model", "openai:gpt-5"], "BELAY_NETWORK_REFUSED", {}],
        [["--model", "openai:gpt-5", "--allow-network"], "OPENAI_API_KEY", { OPENAI_API_KEY: "" }],
        [["--model", "nothing"], "BELAY_USAGE", {}],
        [["--allow-network"], "--model", {}],
        [["--model", url, "--price-input", "1"], "--price-output is missing", {}],
        [["--model", url, "--price-input", "-1", "--price-output", "1"], "BELAY_USAGE", {}],
        [["--model", url, "--price-input", "1e3", "--price-output", "1"], "--price-input", {}],
      ];
      const outcomes = await Promise.all(
        cases.map(([args, , env]) => belay(folder, ["run", "bank", "hi", ...args], env)),
      );
      for (const [at, { code, stderr, stdout }] of outcomes.entries()) {
        expect(stderr).toContain(cases[at]?.[1]);
        expect([code, stdout]).toEqual([2, ""]);
      }
      expect(server.requests).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    "names the package that is not installed",
    async () => {
      const hide = `data:text/javascript,${encodeURIComponent(
        `import { registerHooks } from "node:module";
         registerHooks({ resolve: (name, context, next) => {
           if (!/^@ai-sdk.(openai|openai-compatible|google|anthropic)$/.test(name)) return next(name, context);
           throw Object.assign(new Error("Cannot find package '" + name + "'"), { code: "ERR_MODULE_NOT_FOUND" });
         } });`,
      )}`;
      const folder = makeFolder();
      for (const [spec, name] of [
        ["openai:gpt-5", "@ai-sdk/openai"],
        ["http://127.0.0.1:9/v1#m", "@ai-sdk/openai-compatible"],
      ] as const) {
        const { code, stderr } = await belay(
          folder,
          ["run", "bank", "hi", "--model", spec, "--allow-network", ...FREE],
          {
            NODE_OPTIONS: `--import=${hide}`,
            OPENAI_API_KEY: "sk-secret",
          },
        );
        expect(stderr).toContain(`npm install ${name} (BELAY_PEER_MISSING)`);
        expect(code).toBe(2);
      }
      // Nothing of it is loaded for a run that does not need it.
      expect((await belay(folder, ["run", "bank", "hi"], { NODE_OPTIONS: `--import=${hide}` })).code).toBe(0);
    },
    TIMEOUT_MS,
  );

  it(
    "refuses the shop, which has a cost limit, without a price",
    async () => {
      const folder = makeFolder({
        "belay.config.ts": `export default { apps: { shop: () => import(${JSON.stringify(
          join(import.meta.dirname, "../../apps/shop/index.ts"),
        )}) } };`,
      });
      await using server = await startWireServer([answer({ text: "It is on its way." })]);
      const args = ["run", "shop", "Where is my order O-1001?", "--model", `${server.url}/v1#m`];
      const unpriced = await belay(folder, args);
      expect(unpriced.stderr).toContain("--price-input");
      expect(unpriced.stderr).toContain("BELAY_PRICE_UNKNOWN");
      expect(server.requests).toEqual([]);
      const priced = await belay(folder, [...args, "--price-input", "2.50", "--price-output", "10"]);
      expect(priced.stdout).toContain("It is on its way.");
    },
    TIMEOUT_MS,
  );
});
