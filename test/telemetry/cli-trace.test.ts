import { describe, expect, it } from "vitest";
import { belay, jsonOf, makeFolder } from "../cli/belay.ts";
import { closedEndpoint, openReceiver } from "./otlp-receiver.ts";

const TIMEOUT_MS = 60_000;

describe("belay trace", () => {
  it(
    "draws the tree of a run and sends its spans, again with the same ids",
    async () => {
      const folder = makeFolder();
      const { runId } = jsonOf<{ runId: string }>(await belay(folder, ["run", "bank", "pay 50 to alice", "--json"]));
      const tree = await belay(folder, ["trace", runId, "--tree"]);
      expect(tree.code).toBe(0);
      expect(tree.stdout).toMatch(
        new RegExp(
          [
            "^invoke_agent bank",
            "  chat (\\S+) in=\\d+ out=\\d+",
            '  execute_tool pay args=\\{"account": "alice", "amount": 50\\} error=False',
            "  chat \\1 in=\\d+ out=\\d+\n$",
          ].join("\n"),
        ),
      );
      const all = await belay(folder, ["trace", runId, "--tree", "--all"]);
      expect(all.stdout).toContain("  belay.authorize tool=pay verdict=allow code=OK rule=large\n");
      const receiver = await openReceiver();
      const sent = await belay(folder, ["trace", runId, "--otlp", receiver.endpoint]);
      expect(sent).toMatchObject({ code: 0, stderr: "" });
      const first = receiver.spans.splice(0);
      expect(sent.stdout).toBe(`sent 5 spans, trace ${first[0]?.traceId}\n`);
      expect(first.map(({ name }) => name)).toContain("execute_tool pay");
      expect(JSON.stringify(first.map(({ attributes }) => attributes))).not.toContain("alice");
      await belay(folder, ["trace", runId, "--otlp", `${receiver.endpoint}/`]);
      expect(receiver.spans).toEqual(first);
    },
    TIMEOUT_MS,
  );

  it(
    "leaves the open spans of a waiting run out and says so",
    async () => {
      const folder = makeFolder();
      const { runId } = jsonOf<{ runId: string }>(await belay(folder, ["run", "bank", "pay 500 to alice", "--json"]));
      const tree = await belay(folder, ["trace", runId, "--tree"]);
      expect(tree.stdout).toMatch(/^invoke_agent bank \(open\)\n/);
      expect(tree.stdout).toMatch(/ {2}belay\.approval tool=pay .*\(open\)\n$/);
      const receiver = await openReceiver();
      const sent = await belay(folder, ["trace", runId, "--otlp", receiver.endpoint]);
      expect(sent.stdout).toMatch(/^sent 2 spans, .*; 2 not closed yet, send the run again when it has ended\n$/);
      expect(receiver.spans).toHaveLength(2);
    },
    TIMEOUT_MS,
  );

  it(
    "tells a malformed endpoint from a receiver that is not there",
    async () => {
      const folder = makeFolder();
      const { runId } = jsonOf<{ runId: string }>(await belay(folder, ["run", "bank", "hi", "--json"]));
      const malformed = await belay(folder, ["trace", runId, "--otlp", "collector"]);
      expect(malformed).toMatchObject({ code: 2, stdout: "" });
      expect(malformed.stderr).toMatch(/^belay: OTLP endpoint: "collector" is no URL\. .*\(BELAY_OTLP_ENDPOINT\)\n$/);
      const unreachable = await belay(folder, ["trace", runId, "--otlp", await closedEndpoint()], {
        OTEL_EXPORTER_OTLP_TIMEOUT: "300",
      });
      expect(unreachable).toMatchObject({ code: 1, stdout: "" });
      expect(unreachable.stderr).toMatch(/^\d+ of \d+ spans of run run_\S+ were not taken \(ECONNREFUSED\)\n$/);
      const both = await belay(folder, ["trace", runId, "--jsonl", "--tree"]);
      expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining("--jsonl and --tree") });
      const alone = await belay(folder, ["trace", runId, "--all"]);
      expect(alone).toMatchObject({ code: 2, stderr: expect.stringContaining("--tree") });
    },
    TIMEOUT_MS,
  );
});
