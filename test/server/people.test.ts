import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Person } from "../../src/config.ts";
import { createPeopleStore, openServerDatabase } from "../../src/server/index.ts";
import { manualClock } from "../engine/support.ts";
import { refusal, serverWorld } from "./support.ts";

const DANA: Person = { id: "dana", name: "Dana", roles: ["approver"] };
const LEE: Person = { id: "lee", name: "Lee", roles: ["viewer"] };

function store(file = ":memory:") {
  const clock = manualClock();
  const database = openServerDatabase(file);
  onTestFinished(() => database.close());
  return { clock, database, people: createPeopleStore(database, { clock }) };
}

describe("the people store", () => {
  it("keeps of a secret its hash alone, in a file for its owner alone", () => {
    const folder = mkdtempSync(join(tmpdir(), "belay-people-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, "server.db");
    const { people, database } = store(file);
    people.add({ ...DANA, tenant: "default" });
    const [token, link] = [people.issue("token", "default", "dana"), people.issue("link", "default", "dana")];
    const session = people.redeem(link)?.session ?? "";
    expect(people.known("token", token)?.person).toEqual(DANA);
    expect(people.known("session", session)?.person.id).toBe("dana");
    database.close();
    const stored = readFileSync(file, "latin1") + readFileSync(file, "utf8");
    for (const secret of [token, link, session]) {
      expect(secret).toMatch(/^belay_(tok|lnk|ses)_[\w-]{43}$/);
      expect(stored).not.toContain(secret.slice(10));
    }
    expect(statSync(file).mode & 0o077).toBe(0);
    expect(store(file).people.known("token", token)?.person.id).toBe("dana");
  });

  it("lets a link in once, and nothing in after its time", () => {
    const { people, clock } = store();
    people.add({ ...DANA, tenant: "default" });
    const link = people.issue("link", "default", "dana");
    expect(people.peek(link)?.person.id).toBe("dana");
    const session = people.redeem(link)?.session ?? "";
    expect(people.redeem(link)).toBeUndefined();
    const late = people.issue("link", "default", "dana");
    clock.advance(15 * 60_000);
    expect(people.redeem(late)).toBeUndefined();
    expect(people.known("session", session)).toBeDefined();
    clock.advance(8 * 3_600_000);
    expect(people.known("session", session)).toBeUndefined();
    const token = people.issue("token", "default", "dana");
    clock.advance(90 * 24 * 3_600_000);
    expect(people.known("token", token)).toBeUndefined();
  });

  it("takes one kind of secret for no other", () => {
    const { people } = store();
    people.add({ ...DANA, tenant: "default" });
    const [token, link] = [people.issue("token", "default", "dana"), people.issue("link", "default", "dana")];
    expect(people.known("session", token)).toBeUndefined();
    expect(people.known("token", link)).toBeUndefined();
    expect(people.redeem(token)).toBeUndefined();
    for (const odd of ["", "x", token.slice(0, -1), `${token}a`, token.toUpperCase()]) {
      expect(people.known("token", odd)).toBeUndefined();
    }
  });

  it("revokes a person with everything they hold, for good until somebody adds them again", () => {
    const { people } = store();
    people.takeConfigured([DANA, LEE], "default");
    const token = people.issue("token", "default", "dana");
    people.revoke("default", "dana");
    expect(people.known("token", token)).toBeUndefined();
    expect(() => people.issue("link", "default", "dana")).toThrow(
      expect.objectContaining({ code: "BELAY_PERSON_UNKNOWN" }),
    );
    people.takeConfigured([DANA, LEE], "default");
    expect(people.find("default", "dana")).toBeUndefined();
    people.add({ ...DANA, tenant: "default" });
    expect(people.known("token", token)).toBeUndefined();
    expect(people.find("default", "dana")).toBeDefined();
  });

  it("follows the configuration: new roles, and who left it is out", () => {
    const { people } = store();
    people.takeConfigured([DANA, LEE], "default");
    people.add({ id: "own", name: "Own", roles: ["viewer"], tenant: "default" });
    const token = people.issue("token", "default", "lee");
    people.takeConfigured([{ ...DANA, roles: ["viewer"] }], "default");
    expect(people.find("default", "dana")?.person.roles).toEqual(["viewer"]);
    expect(people.known("token", token)).toBeUndefined();
    expect(people.list("default").map(({ id }) => id)).toEqual(["dana", "own"]);
  });

  it("refuses people that nobody could name or trust", () => {
    const { people } = store();
    const good = { ...DANA, tenant: "default" };
    for (const bad of [
      { id: "" },
      { id: "a b" },
      { id: "a".repeat(65) },
      { name: " " },
      { roles: [] },
      { tenant: "/" },
    ]) {
      expect(() => people.add({ ...good, ...bad })).toThrow(expect.objectContaining({ code: "BELAY_PERSON_INVALID" }));
    }
    expect(() => people.revoke("default", "nobody")).toThrow(expect.objectContaining({ code: "BELAY_PERSON_UNKNOWN" }));
  });
});

describe("a program's credential", () => {
  it("starts runs and reads its own, and nothing else", async () => {
    const setup = await serverWorld();
    const bot = setup.token("bot", ["agent", "admin"]);
    const own = await setup.run(bot, "refund O-1 5000", { customer: "C-1" });
    const other = await setup.run(setup.token("olga"), "search x");
    expect(await (await setup.request(bot, "GET", `/v1/runs/${own}`)).json()).toMatchObject({ runId: own });
    expect(await refusal(await setup.request(bot, "GET", `/v1/runs/${other}`))).toBe("404 BELAY_RUN_UNKNOWN");
    expect(await refusal(await setup.request(bot, "POST", `/v1/runs/${other}:cancel`, {}))).toBe(
      "404 BELAY_RUN_UNKNOWN",
    );
    for (const path of ["/v1/runs", "/v1/approvals", "/v1/audit/checkpoint", "/v1/audit/0"]) {
      expect(await refusal(await setup.request(bot, "GET", path))).toBe("403 BELAY_NOT_PERMITTED");
    }
    const direct = await setup.run(bot, "search y");
    expect(await setup.store.run({ tenant: "default", runId: direct })).toMatchObject({
      principal: { kind: "agent", id: "bot" },
    });
  });
});
