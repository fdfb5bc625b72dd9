import { runInNewContext } from "node:vm";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createSandbox, type Sandbox, type SandboxLimits } from "../../src/sandbox/index.ts";

// Far longer than any of the programs needs but the endless ones, so that a slow machine decides nothing.
const PATIENT: Partial<SandboxLimits> = { timeoutMs: 20_000 };
const HURRIED: Partial<SandboxLimits> = { timeoutMs: 100 };

let patient: Sandbox;
let hurried: Sandbox;
beforeAll(() => {
  patient = createSandbox(PATIENT);
  hurried = createSandbox(HURRIED);
});
afterAll(async () => {
  await patient.close();
  await hurried.close();
});

describe("createSandbox", () => {
  it.each([
    ["1 + 2", 3],
    ["'a'.repeat(3)", "aaa"],
    ["const all = []; for (let n = 0; n < 3; n++) all.push({ n }); all", [{ n: 0 }, { n: 1 }, { n: 2 }]],
    ["null", null],
    ["-0", 0],
    ["(async () => { await null; return [true] })()", [true]],
    ["Promise.resolve(1).then((one) => one + 1)", 2],
    ["'\\u00e9\\u{1f600}'", "é😀"],
  ])("gives the value of %s", async (code, value) => {
    expect(await patient.evaluate(code)).toEqual({ ok: true, value });
  });

  it("gives the program its input as a copy", async () => {
    const input = { prices: [1, 2, 3], name: "x" };
    const code = "input.prices.push(4); input.prices.reduce((sum, price) => sum + price, 0)";
    expect(await patient.evaluate(code, { input })).toEqual({ ok: true, value: 10 });
    expect(input.prices).toEqual([1, 2, 3]);
    expect(await patient.evaluate("typeof input")).toEqual({ ok: true, value: "undefined" });
  });

  it("leaves nothing for the next evaluation", async () => {
    await patient.evaluate("globalThis.kept = 1; Array.prototype.map = () => 'mine'; JSON.stringify = () => '7'; 1");
    expect(await patient.evaluate("[typeof kept, [1].map((one) => one + 1)[0]]")).toEqual({
      ok: true,
      value: ["undefined", 2],
    });
  });

  it("does not let a program speak through the built-ins it has changed", async () => {
    expect(
      await patient.evaluate("JSON.stringify = () => '\"forged\"'; Number.isFinite = () => true; [1, NaN]"),
    ).toMatchObject({ ok: false, code: "not_json" });
  });

  it("runs as many as are asked for at once, each on its own", async () => {
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, n) => patient.evaluate(`globalThis.seen = (globalThis.seen ?? 0) + ${n}; seen`)),
    );
    expect(results).toEqual(Array.from({ length: 20 }, (_, n) => ({ ok: true, value: n })));
  });
});

describe("what a program sees", () => {
  const escapes = [
    "this.constructor.constructor('return process')()",
    "(() => {}).constructor('return globalThis.process.env')()",
    "Object.getPrototypeOf(async function () {}).constructor('return process')()",
    "input.constructor.constructor('return process')()",
    "input.list.constructor.constructor('return process.mainModule.require(\"fs\")')()",
    "try { null.x } catch (error) { error.constructor.constructor('return process')() }",
    "Reflect.construct(Function, ['return process'])()",
    "new Proxy({}, { get: (_, key, self) => ((() => {}).constructor('return process')()) }).any.x",
    "Error.prepareStackTrace = (_, frames) => frames[0].getThis().process.pid; new Error().stack.pid.x",
    "require('fs').readFileSync('/etc/passwd')",
    "process.exit(1)",
  ];

  it.each(escapes)("holds %s", async (code) => {
    const result = await patient.evaluate(code, { input: { list: [1] } });
    expect(result).toMatchObject({ ok: false });
    expect(["threw", "not_json"]).toContain(!result.ok && result.code);
  });

  it("is nothing of the host", async () => {
    const names = [
      "process",
      "require",
      "module",
      "fetch",
      "setTimeout",
      "WebAssembly",
      "Buffer",
      "console",
      "std",
      "os",
    ];
    const code = `${JSON.stringify(names)}.filter((name) => name in globalThis)`;
    expect(await patient.evaluate(code)).toEqual({ ok: true, value: [] });
  });

  it("is more in node:vm, where the same words reach the host", () => {
    const context = { input: { list: [1] } };
    expect(runInNewContext("input.constructor.constructor('return process')().pid", context)).toBe(process.pid);
  });

  it("changes nothing in the host through prototypes", async () => {
    await patient.evaluate("Object.prototype.polluted = 1; input.__proto__.polluted = 1; 1", { input: {} });
    expect("polluted" in {}).toBe(false);
  });

  it("has no modules", async () => {
    for (const code of ["import('node:fs')", "import('node:fs').then((fs) => fs)", "eval('imp' + 'ort(\"fs\")')"]) {
      expect(await patient.evaluate(code)).toMatchObject({ ok: false, code: "import_refused" });
    }
    expect(await patient.evaluate("import fs from 'fs'; fs")).toMatchObject({ ok: false, code: "syntax_error" });
    expect(await patient.evaluate("import('fs').catch(() => 5)")).toEqual({ ok: true, value: 5 });
    expect(await patient.evaluate("import('fs'); 5")).toEqual({ ok: true, value: 5 });
  });
});

describe("a program that does not end", () => {
  it.each([
    "while (true) {}",
    "Promise.resolve().then(() => { while (true) {} }); 1",
    "const next = () => Promise.resolve().then(next); next(); 1",
    "(async () => { for (;;) await null })()",
    "try { while (true) {} } finally { while (true) {} }",
    "for (;;) { try { for (;;) {} } catch {} }",
    "/(a+)+$/.test('a'.repeat(40) + 'b')",
    "throw { get name() { for (;;) {} } }",
    "({ toJSON() { for (;;) {} } })",
    "Object.defineProperty(Object.prototype, 'toJSON', { get() { for (;;) {} } }); ({})",
    "({ then() { for (;;) {} } }); (async () => ({ then() { for (;;) {} } }))()",
    "function* all() { for (;;) yield 1 } [...all()].length",
    "new Proxy({}, { ownKeys() { for (;;) {} } })",
    // Loops inside built-ins, which never ask whether they should stop.
    "Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)",
    "const text = 'a'.repeat(4e6); text.indexOf('a'.repeat(2e6) + 'b')",
  ])("is ended: %s", async (code) => {
    let ticks = 0;
    const ticking = setInterval(() => {
      ticks += 1;
    }, 5);
    const result = await hurried.evaluate(code);
    clearInterval(ticking);
    expect(result).toEqual({
      ok: false,
      code: expect.stringMatching(/^(?:time|memory)_limit$/),
      message: expect.any(String),
    });
    // The host went on meanwhile.
    expect(ticks).toBeGreaterThan(0);
  });

  it("does not harm the next", async () => {
    await hurried.evaluate("Array.prototype.indexOf.call({ length: 2 ** 53 - 1 }, 1)");
    const results = await Promise.all([1, 2, 3].map((n) => patient.evaluate(`${n}`)));
    expect(results).toEqual([1, 2, 3].map((value) => ({ ok: true, value })));
    expect(await hurried.evaluate("1")).toEqual({ ok: true, value: 1 });
  });

  it("says when nothing is left that could settle a promise", async () => {
    expect(await patient.evaluate("new Promise(() => {})")).toMatchObject({ ok: false, code: "never_settled" });
  });

  it("is ended when the caller aborts, and so is one that waits", async () => {
    const stop = new AbortController();
    const running = patient.evaluate("while (true) {}", { signal: stop.signal });
    const waiting = patient.evaluate("1", { signal: stop.signal });
    const other = patient.evaluate("2");
    setTimeout(() => stop.abort(), 20);
    expect(await Promise.all([running, waiting])).toMatchObject([{ code: "aborted" }, { code: "aborted" }]);
    expect(await other).toEqual({ ok: true, value: 2 });
    expect(await patient.evaluate("1", { signal: AbortSignal.abort() })).toMatchObject({ code: "aborted" });
  });
});

describe("a program that takes too much", () => {
  it.each([
    "const all = []; for (;;) all.push({})",
    "const all = []; for (;;) all.push(new Uint8Array(100_000))",
    "new ArrayBuffer(2 ** 30)",
    "'x'.repeat(2 ** 28)",
    "let text = 'x'; for (;;) text += text",
  ])("gets no more memory: %s", async (code) => {
    await using small = createSandbox({ ...PATIENT, memoryBytesMax: 2 ** 21 });
    expect(await small.evaluate(code)).toMatchObject({
      ok: false,
      code: expect.stringMatching(/^memory_limit$|^threw$/),
    });
    expect(await small.evaluate("1")).toEqual({ ok: true, value: 1 });
  });

  it.each([
    "const deeper = () => deeper() + 1; deeper()",
    "let deep = []; for (let n = 0; n < 100_000; n++) deep = [deep]; JSON.stringify(deep)",
    "let deep = []; for (let n = 0; n < 100_000; n++) deep = [deep]; deep",
    "const cycle = {}; cycle.toString = () => cycle + ''; cycle + ''",
  ])("gets no deeper: %s", async (code) => {
    expect(await patient.evaluate(code)).toMatchObject({ ok: false, code: "stack_limit" });
    expect(await patient.evaluate("1")).toEqual({ ok: true, value: 1 });
  });

  it("gives no more than the output may have", async () => {
    await using terse = createSandbox({ ...PATIENT, outputCharactersMax: 10 });
    expect(await terse.evaluate("'x'.repeat(8)")).toEqual({ ok: true, value: "xxxxxxxx" });
    expect(await terse.evaluate("'x'.repeat(9)")).toMatchObject({ ok: false, code: "output_limit" });
    expect(await terse.evaluate("'x'.repeat(1e6)")).toMatchObject({ ok: false, code: "output_limit" });
  });

  it("is not begun when it or its input is too long", async () => {
    await using terse = createSandbox({ ...PATIENT, inputCharactersMax: 10 });
    expect(await terse.evaluate("1 /*********/")).toMatchObject({ ok: false, code: "input_too_large" });
    expect(await terse.evaluate("1", { input: "x".repeat(10) })).toMatchObject({ ok: false, code: "input_too_large" });
  });
});

describe("a result that JSON cannot hold", () => {
  it.each([
    "undefined",
    "() => 1",
    "Symbol('x')",
    "NaN",
    "[1 / 0]",
    "10n",
    "const a = []; a.push(a); a",
    "2 ** 53",
    "'\\ud800'",
  ])("is refused: %s", async (code) => {
    expect(await patient.evaluate(code)).toMatchObject({ ok: false, code: "not_json" });
  });

  it("is refused on the way in too", async () => {
    expect(await patient.evaluate("1", { input: Number.NaN })).toMatchObject({ ok: false, code: "not_json" });
  });
});

describe("what a program throws", () => {
  it.each([
    ["throw new Error('no stock')", "threw", "Error: no stock"],
    ["throw 'text'", "threw", "a value: text"],
    ["throw null", "threw", "a value: no message"],
    ["Promise.reject(new RangeError('far'))", "threw", "RangeError: far"],
    ["throw new Proxy({}, { get() { throw 1 } })", "threw", "a value: no message"],
    ["throw { name: 1, message: [] }", "threw", "a value: no message"],
    ["1 +", "syntax_error", "SyntaxError: unexpected token in expression: ''"],
  ])("is data: %s", async (code, expected, message) => {
    expect(await patient.evaluate(code)).toEqual({ ok: false, code: expected, message });
  });

  it("is bounded and printable", async () => {
    const result = await patient.evaluate("throw new Error('\\u001b[31m' + 'x'.repeat(5000))");
    expect(result).toMatchObject({ ok: false, code: "threw", message: expect.stringMatching(/^[ -~]{1,320}$/) });
  });
});
