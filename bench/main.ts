/** `npm run bench`: each number with the raw limit beside it, in one run. Medians; compare ratios, not machines. */
import { cpus } from "node:os";
import { benchPolicy } from "./policy.ts";
import { benchSize } from "./size.ts";
import { benchStepOverhead } from "./step-overhead.ts";
import { benchStore } from "./store.ts";

process.stdout.write(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? "unknown"}\n\n`);
await benchStepOverhead();
await benchPolicy();
await benchStore();
await benchSize();
