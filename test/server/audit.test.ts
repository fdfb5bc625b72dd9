import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  appendLeaf,
  EMPTY_FRONTIER,
  generateSigner,
  inclusionProof,
  leafHash,
  openCheckpoint,
  rootOf,
  verifyInclusion,
} from "../../src/audit/index.ts";
import { createProofTree } from "../../src/server/audit/proof-tree.ts";
import { refusal, serverWorld } from "./support.ts";

describe("the audit routes", () => {
  it("give a signed head, a record and a proof that a stranger can check", async () => {
    const { signer } = generateSigner("belay/audit");
    const setup = await serverWorld({ options: { signer } });
    const vik = setup.token("vik", ["viewer"]);
    await setup.run(setup.token("olga"), "refund O-1 500");
    const head = (await (await setup.request(vik, "GET", "/v1/audit/checkpoint")).json()) as {
      size: number;
      root: string;
      note: string;
    };
    const opened = openCheckpoint(head.note, [signer.verifierKey]);
    expect(opened).toMatchObject({ ok: true, checkpoint: { size: head.size, root: head.root } });
    await setup.run(setup.token("olga"), "search more");
    for (let seq = 0; seq < head.size; seq += 1) {
      const record = (await (await setup.request(vik, "GET", `/v1/audit/${seq}`)).json()) as {
        text: string;
        leaf: string;
      };
      const response = await setup.request(vik, "GET", `/v1/audit/${seq}/proof?size=${head.size}`);
      const claim = (await response.json()) as Parameters<typeof verifyInclusion>[0];
      expect(leafHash(record.text)).toBe(record.leaf);
      expect(verifyInclusion({ ...claim, leaf: record.leaf, root: head.root })).toBe(true);
    }
    const whole = await setup.store.audit.size();
    expect(await refusal(await setup.request(vik, "GET", `/v1/audit/${whole}`))).toBe("404 BELAY_AUDIT_RECORD_UNKNOWN");
    for (const query of [`0/proof?size=0`, `0/proof?size=${whole + 1}`, "x", "-1", "1e9"]) {
      expect((await setup.request(vik, "GET", `/v1/audit/${query}`)).status, query).toBeOneOf([400, 404]);
    }
  });

  it("give a head without a note when there is no key, and nothing to strangers", async () => {
    const setup = await serverWorld();
    const head = await setup.request(setup.token("vik", ["viewer"]), "GET", "/v1/audit/checkpoint");
    expect(Object.keys((await head.json()) as object)).toEqual(["origin", "size", "root"]);
    expect(await refusal(await setup.app.request("/v1/audit/checkpoint"))).toBe("401 BELAY_NOT_SIGNED_IN");
  });
});

describe("the proof tree", () => {
  it("proves what inclusionProof proves, at every size, while the log grows", async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 70 }), fc.nat(), fc.nat(), async (count, sizeSeed, indexSeed) => {
        const leaves = Array.from({ length: count }, (_, index) => leafHash(String(index)));
        let known = 1 + (sizeSeed % count);
        const tree = createProofTree({
          entries: async (from: number, limit: number) =>
            leaves
              .slice(from, Math.min(from + limit, known))
              .map((leaf, index) => ({ seq: from + index, text: "", leaf })),
        } as unknown as Parameters<typeof createProofTree>[0]);
        for (const size of [known, count]) {
          known = size;
          const index = indexSeed % size;
          const { root, proof } = await tree.prove(index, size);
          expect(proof).toEqual(inclusionProof(leaves, index, size));
          expect(root).toBe(rootOf(leaves.slice(0, size).reduce(appendLeaf, EMPTY_FRONTIER)));
        }
        await expect(tree.prove(0, count + 1)).rejects.toMatchObject({ code: "BELAY_STORE_CORRUPT" });
      }),
    );
  });
});
