/** `npm run bench`: each number with the raw limit beside it, in one run. Medians; compare ratios, not machines. */
import { cpus } from "node:os";
import { benchAiSdk } from "./ai-sdk.ts";
import { benchGate } from "./gate.ts";
import { benchPolicy } from "./policy.ts";
import { benchSandbox } from "./sandbox.ts";
import { benchSize } from "./size.ts";
import { benchStepOverhead } from "./step-overhead.ts";
import { benchStore } from "./store.ts";

process.stdout.write(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? "unknown"}\n\n`);
await benchStepOverhead();
await benchGate();
await benchPolicy();
await benchSandbox();
await benchAiSdk();
await benchStore();
await benchSize();
