import { expect, it } from "vitest";
import { ensureChromium, type Machine } from "../../../scripts/ensure-chromium.ts";

/** A machine on which apt-get puts Chromium where it belongs, or fails. */
function machine(change: Partial<Machine> & { readonly files?: readonly string[]; readonly isOnline?: boolean }) {
  const files = new Set(change.files ?? ["/usr/bin/apt-get"]);
  const ran: string[] = [];
  return {
    ran,
    isRoot: true,
    env: {},
    exists: (path: string) => files.has(path),
    run: (program: string, words: readonly string[]) => {
      ran.push([program, ...words].join(" "));
      if (change.isOnline === false) throw new Error("no network");
      if (words[0] === "install") files.add("/usr/bin/chromium");
    },
    ...change,
  };
}

it("takes the browser that is there, or the one that was named, and installs nothing", () => {
  const present = machine({ files: ["/usr/bin/chromium", "/usr/bin/apt-get"] });
  expect(ensureChromium(present)).toEqual({ path: "/usr/bin/chromium" });
  const named = machine({ files: ["/opt/chrome"], env: { BELAY_CHROMIUM: "/opt/chrome" } });
  expect(ensureChromium(named)).toEqual({ path: "/opt/chrome" });
  const wrong = machine({ env: { BELAY_CHROMIUM: "/opt/none" } });
  expect(ensureChromium(wrong)).toEqual({ problem: "BELAY_CHROMIUM is /opt/none, which is not there" });
  expect([...present.ran, ...named.ran, ...wrong.ran]).toEqual([]);
});

it("installs Chromium alone where it may, and says how otherwise", () => {
  const fresh = machine({});
  expect(ensureChromium(fresh)).toEqual({ path: "/usr/bin/chromium" });
  expect(fresh.ran.map((line) => line.split(" ").filter((word) => !/^-|Timeout/.test(word)))).toEqual([
    ["/usr/bin/apt-get", "update"],
    ["/usr/bin/apt-get", "install", "chromium"],
  ]);
  const howTo = { problem: expect.stringMatching(/ensure-chromium\.ts` as root .* BELAY_CHROMIUM/) };
  const others = [machine({ isRoot: false }), machine({ files: [] }), machine({ isOnline: false })];
  for (const other of others) expect(ensureChromium(other)).toEqual(howTo);
  expect(others.map(({ ran }) => ran.length > 0)).toEqual([false, false, true]);
});
