import { Ajv2020 } from "ajv/dist/2020.js";
import { describe, expect, it } from "vitest";
import { serverWorld } from "./support.ts";

interface Media {
  readonly schema: { readonly $ref?: string };
}

interface Operation {
  readonly security: readonly object[];
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, Media>> }>>;
}

interface Document {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, { readonly example?: unknown }>> };
}

async function described() {
  const setup = await serverWorld();
  const response = await setup.app.request("/openapi.json");
  return { setup, document: (await response.json()) as Document };
}

function validator(document: Document) {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  ajv.addSchema({ $id: "doc", components: document.components });
  return (reference: string) => {
    const validate = ajv.compile({ $ref: `doc${reference}` });
    return (value: unknown) => (validate(value) ? [] : (validate.errors ?? []).map((error) => error.message));
  };
}

describe("/openapi.json", () => {
  it("describes every route of the API, and nothing that is not there", async () => {
    const { setup, document } = await described();
    const described_ = Object.entries(document.paths)
      .flatMap(([path, operations]) => Object.keys(operations).map((method) => `${method} ${path}`))
      .sort();
    const routed = setup.app.routes
      .filter(({ method, path }) => method !== "ALL" && path !== "/openapi.json")
      .map(({ method, path }) => {
        const suffix = /\{\[\^\/\]\+(:[a-z]+)\}$/.exec(path)?.[1] ?? "";
        const plain = suffix === "" ? path : path.slice(0, path.indexOf("{"));
        return `${method.toLowerCase()} ${plain.replaceAll(/:(\w+)/g, "{$1}")}${suffix}`;
      });
    expect([...new Set(routed)].sort()).toEqual(described_);
    expect(described_).toEqual(
      [
        "get /healthz",
        "get /readyz",
        "get /v1/approvals",
        "get /v1/audit/checkpoint",
        "get /v1/audit/{seq}",
        "get /v1/audit/{seq}/proof",
        "get /v1/runs",
        "get /v1/runs/{id}",
        "get /v1/runs/{id}/events",
        "post /v1/approvals/{id}:decide",
        "post /v1/calls/{id}:reconcile",
        "post /v1/runs",
        "post /v1/runs/{id}/messages",
        "post /v1/runs/{id}:cancel",
      ].sort(),
    );
    expect(document.openapi).toBe("3.1.0");
  });

  it("says of every route who may call it and how it refuses", async () => {
    const { document } = await described();
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const operation of Object.values(operations)) {
        const isPublic = path === "/healthz" || path === "/readyz";
        expect(operation.security.length, path).toBe(isPublic ? 0 : 2);
        for (const status of ["401", "403", "429", "500"]) {
          expect(Object.keys(operation.responses[status]?.content ?? {})).toEqual(["application/problem+json"]);
        }
        const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
        expect((operation.parameters ?? []).filter((each) => each.in === "path").map(({ name }) => name)).toEqual(
          named,
        );
      }
    }
    expect(Object.keys(document.paths["/v1/approvals/{id}:decide"]?.["post"]?.responses ?? {})).toEqual(
      expect.arrayContaining(["200", "202", "404", "409", "410", "412"]),
    );
  });

  it("has examples that its own schemas accept", async () => {
    const { document } = await described();
    const validate = validator(document);
    const examples = Object.entries(document.components.schemas).filter(([, { example }]) => example !== undefined);
    expect(examples.length).toBeGreaterThan(10);
    for (const [name, { example }] of examples) {
      expect([name, validate(`#/components/schemas/${name}`)(example)]).toEqual([name, []]);
    }
  });

  it("accepts what the server really answers", async () => {
    const { setup, document } = await described();
    const validate = validator(document);
    const [olga, dana] = [setup.token("olga"), setup.token("dana", ["approver"])];
    const runId = await setup.run(olga, "refund O-1 5000", { customer: "C-1" });
    const { approvalId, argsHash } = await setup.question();
    const answers: [string, Response][] = [
      ["Run", await setup.request(olga, "GET", `/v1/runs/${runId}`)],
      ["StartedRun", await setup.request(olga, "POST", "/v1/runs", { app: "desk", input: "hi" })],
      ["SentMessage", await setup.request(olga, "POST", `/v1/runs/${runId}/messages`, { text: "hi" })],
      [
        "Decided",
        await setup.request(dana, "POST", `/v1/approvals/${approvalId}:decide`, { answer: "approve", argsHash }),
      ],
      [
        "Problem",
        await setup.request(dana, "POST", `/v1/approvals/${approvalId}:decide`, { answer: "approve", argsHash }),
      ],
      ["Checkpoint", await setup.request(dana, "GET", "/v1/audit/checkpoint")],
      ["AuditRecord", await setup.request(dana, "GET", "/v1/audit/0")],
      ["InclusionProof", await setup.request(dana, "GET", "/v1/audit/0/proof")],
    ];
    for (const [name, response] of answers) {
      expect([name, validate(`#/components/schemas/${name}`)(await response.json())]).toEqual([name, []]);
    }
    const lists: [string, "RunSummary" | "Approval", string][] = [
      ["/v1/runs", "RunSummary", "runs"],
      ["/v1/approvals", "Approval", "approvals"],
    ];
    for (const [path, name, member] of lists) {
      const page = (await (await setup.request(dana, "GET", path)).json()) as Record<string, unknown[]>;
      for (const row of page[member] ?? []) expect(validate(`#/components/schemas/${name}`)(row)).toEqual([]);
      expect(page[member]?.length).toBeGreaterThan(0);
    }
  });
});
