import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { beforeAll } from "vitest";
import { itStopsInOrder } from "../cli/courier.ts";

const project = join(import.meta.dirname, "../..");

// Pages are compiled: Node strips types, and knows no JSX.
beforeAll(() => {
  execFileSync(process.execPath, ["node_modules/.bin/tsc", "-b", "tsconfig.build.json"], { cwd: project });
}, 120_000);

itStopsInOrder(["serve", "--port", "0"], [join(project, "dist/cli/main.js")]);
