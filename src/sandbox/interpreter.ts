import { parentPort, workerData } from "node:worker_threads";
import type { QuickJSWASMModule } from "quickjs-emscripten";
import type { SandboxLimits } from "./limits.ts";
import { failure } from "./outcome.ts";
import { type Program, type ProgramRun, runProgram } from "./run-program.ts";

/** What the thread is started with. */
export type ThreadData = Pick<SandboxLimits, "memoryBytesMax">;

/** From the host to the interpreter's thread. */
export interface Job extends Program {
  readonly limits: SandboxLimits;
}

/** From the interpreter's thread to the host. After `isSpoiled` the thread must be ended. */
export type Report =
  | { readonly kind: "ready" }
  | { readonly kind: "missing" }
  | ({ readonly kind: "done" } & ProgramRun);

const report = (message: Report): void => parentPort?.postMessage(message);

/** Memory that the interpreter has from the start, in pages; the compiled module asks for exactly this. */
const PAGES_AT_START = 256;
const PAGE_BYTES = 65_536;

/** The part that is used here; the types of Node without a browser's do not name it. */
interface WebAssemblyNamespace {
  readonly Memory: new (size: { readonly initial: number; readonly maximum: number }) => object;
}

/**
 * The interpreter, or nothing when its package is not installed. Its memory as a whole is bounded too, because the
 * interpreter's own limit does not count raw buffers.
 */
async function loadModule(memoryBytesMax: number): Promise<QuickJSWASMModule | undefined> {
  try {
    const { newQuickJSWASMModule, newVariant, RELEASE_SYNC } = await import("quickjs-emscripten");
    const maximum = PAGES_AT_START + Math.ceil(memoryBytesMax / PAGE_BYTES);
    const { Memory } = Reflect.get(globalThis, "WebAssembly") as WebAssemblyNamespace;
    const wasmMemory = new Memory({ initial: PAGES_AT_START, maximum });
    return await newQuickJSWASMModule(newVariant(RELEASE_SYNC, { wasmMemory }));
  } catch {
    return undefined;
  }
}

function run(module: QuickJSWASMModule, { limits, ...program }: Job): Report {
  try {
    return { kind: "done", ...runProgram(module, program, limits) };
  } catch (error) {
    // A stack that ends inside the interpreter is seen here as the thread's own.
    const outcome =
      error instanceof RangeError
        ? failure("stack_limit", "The program nests too deeply.")
        : failure("interpreter_failed", "The interpreter broke while it ran the program.");
    return { kind: "done", outcome, isSpoiled: true };
  }
}

const module = await loadModule((workerData as ThreadData).memoryBytesMax);
if (module === undefined) {
  report({ kind: "missing" });
} else {
  parentPort?.on("message", (job: Job) => report(run(module, job)));
  report({ kind: "ready" });
}
