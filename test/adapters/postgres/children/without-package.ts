/** Child process in which one package is not installed. It prints what opening a store and using a waker come to. */
import { registerHooks } from "node:module";

const [missing = "", connectionString = ""] = process.argv.slice(2);
registerHooks({
  resolve: (name, context, next) => {
    if (name !== missing) return next(name, context);
    const text = `Cannot find package '${name}' imported from ${context.parentURL}`;
    throw Object.assign(new Error(text), { code: "ERR_MODULE_NOT_FOUND" });
  },
});
const { createPgBossWaker, createPostgresStore } = await import("../../../../src/adapters/postgres/index.ts");
const waker = createPgBossWaker({ connectionString });
const outcomes = [
  await outcomeOf(async () => (await createPostgresStore({ connectionString })).close()),
  await outcomeOf(async () => (await waker.serve(async () => undefined)).close()),
  await outcomeOf(() => waker.wake({ run: { tenant: "default", runId: "r" }, why: "start", key: "k" })),
];
await waker.close();
process.stdout.write(JSON.stringify(outcomes));

async function outcomeOf(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
    return "ok";
  } catch (error) {
    const { code, message } = error as { readonly code: string; readonly message: string };
    return `${code}: ${message}`;
  }
}
