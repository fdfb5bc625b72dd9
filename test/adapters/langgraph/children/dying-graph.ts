/** Child process: runs or goes on with a graph whose tool kills the process after its effect, the first time. */
import { appendFileSync, existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { tool } from "@langchain/core/tools";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { type BelayCallConfig, belayToolNode } from "../../../../src/adapters/langgraph/index.ts";
import { openSqliteStore } from "../../../../src/adapters/sqlite/index.ts";
import { allow, type ToolContext } from "../../../../src/index.ts";
import { FileSaver } from "../file-saver.ts";
import { GO, graphOf, PAY, type Pay, payCall, THREAD } from "../support.ts";

const [folder = "", kind = ""] = process.argv.slice(2);
const effects = join(folder, "effects");
const bomb = join(folder, "bomb");
const store = await openSqliteStore(join(folder, "belay.db"));

const pay = tool(
  async ({ to }: Pay, config: LangGraphRunnableConfig) => {
    const belay = config.configurable?.["belay"] as BelayCallConfig | undefined;
    appendFileSync(effects, `${to} ${belay?.idempotencyKey ?? "no key"}\n`);
    if (existsSync(bomb)) {
      rmSync(bomb);
      process.kill(process.pid, "SIGKILL");
      await new Promise(() => undefined);
    }
    return "paid";
  },
  { name: "pay", description: "Pays", schema: PAY },
);

const contract = {
  level: "irreversible",
  recovery: "queryable",
  timeoutMs: 200,
  lookup: (_args: unknown, { idempotencyKey }: ToolContext) =>
    existsSync(effects) && readFileSync(effects, "utf8").includes(idempotencyKey) ? "paid before" : undefined,
} as const;

const node =
  kind === "belay"
    ? belayToolNode({
        name: "desk",
        tools: [pay],
        contracts: { pay: contract },
        rules: [{ id: "all", decide: () => allow("OK", "test") }],
        store,
        leaseMs: 300,
      })
    : new ToolNode([pay]);
const saver = new FileSaver(join(folder, "graph.json"));
const graph = graphOf(node, [[payCall("a")]], saver);
const isNew = (await graph.getState(THREAD)).next.length === 0;
const { messages } = await graph.invoke(isNew ? GO : null, THREAD);
process.stdout.write(String(messages.at(-1)?.content));
await store.close();
