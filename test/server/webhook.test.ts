import { createServer as createHttpServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import type { WebhookTarget } from "../../src/config.ts";
import { createWebhooks, SIGNATURE_HEADER, verifyWebhook, type WebhookOptions } from "../../src/server/index.ts";
import { createAddressGuard } from "../../src/server/webhook/address-guard.ts";
import { signWebhook } from "../../src/server/webhook/sign.ts";
import { type ServerWorld, serverWorld } from "./support.ts";

const SECRET = "s".repeat(32);

interface Received {
  readonly headers: IncomingMessage["headers"];
  readonly body: string;
}

/** A receiver that answers with these statuses in turn, then with 204. */
async function receiver(statuses: number[] = [], headers: Record<string, string> = {}) {
  const received: Received[] = [];
  const server = createHttpServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      received.push({ headers: request.headers, body: Buffer.concat(chunks).toString("utf8") });
      response.writeHead(statuses.shift() ?? 204, headers).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  const target: WebhookTarget = {
    url: `http://hooks.test:${port}/in`,
    hosts: ["hooks.test"],
    ports: [port],
    schemes: ["http"],
    privateAddresses: ["127.0.0.1"],
  };
  return { received, target };
}

function webhooks(setup: ServerWorld, target: WebhookTarget, change: Partial<WebhookOptions> = {}) {
  const { store, database, clock } = setup;
  const created = createWebhooks({
    store,
    database,
    clock,
    target,
    secret: SECRET,
    tenants: () => ["default"],
    origin: "https://belay.example.com",
    resolve: async () => ["127.0.0.1"],
    ...change,
  });
  onTestFinished(() => created.close());
  return created;
}

const guard = (
  target: Partial<WebhookTarget> & { readonly url: string },
  addresses: readonly string[] = ["93.184.216.34"],
) => createAddressGuard({ hosts: ["ok.test"], ...target }, async () => addresses);
const refusedWith = (reason: string) =>
  expect.objectContaining({ code: "BELAY_WEBHOOK_REFUSED", message: expect.stringContaining(reason) });

describe("where a webhook may go", () => {
  it("http-06: scheme, host and port are listed, and the address is looked at for each connection", async () => {
    for (const [url, reason] of [
      ["http://169.254.169.254/", "scheme"],
      ["http://[::ffff:127.0.0.1]/", "scheme"],
      ["http://2130706433/", "scheme"],
      ["https://169.254.169.254/", "host"],
      ["https://other.test/", "host"],
      ["https://ok.test.evil.test/", "host"],
      ["https://ok.test:8443/", "port"],
      ["https://user:pw@ok.test/", "credentials"],
      ["file:///etc/passwd", "scheme"],
      ["nonsense", "URL"],
    ] as const) {
      expect(() => guard({ url }), url).toThrow(refusedWith(reason));
    }
    const literals = [
      "127.0.0.1",
      "[::1]",
      "[::ffff:127.0.0.1]",
      "2130706433",
      "0x7f.1",
      "169.254.169.254",
      "[fe80::1]",
    ];
    for (const host of literals) {
      const { hostname } = new URL(`https://${host}/`);
      expect(() => guard({ url: `https://${host}/`, hosts: [hostname] }), host).toThrow(
        refusedWith("private or special"),
      );
    }
    const [rebound] = [guard({ url: "https://ok.test/" }, ["93.184.216.34", "127.0.0.1"])];
    await expect(rebound?.resolve()).rejects.toEqual(refusedWith("private or special"));
    await expect(guard({ url: "https://ok.test/" }, []).resolve()).rejects.toEqual(refusedWith("no address"));
    expect(await guard({ url: "https://ok.test/" }).resolve()).toBe("93.184.216.34");
  });

  it("never is a private network, however the address is written, unless that is listed", () => {
    const { isAllowed } = guard({ url: "https://ok.test/" });
    const byte = fc.integer({ min: 0, max: 255 });
    const inside = fc.oneof(
      fc.tuple(fc.constant(10), byte, byte, byte),
      fc.tuple(fc.constant(127), byte, byte, byte),
      fc.tuple(fc.constant(192), fc.constant(168), byte, byte),
      fc.tuple(fc.constant(169), fc.constant(254), byte, byte),
      fc.tuple(fc.constant(172), fc.integer({ min: 16, max: 31 }), byte, byte),
      fc.tuple(fc.constant(100), fc.integer({ min: 64, max: 127 }), byte, byte),
    );
    fc.assert(
      fc.property(inside, (bytes) => {
        const hex = bytes.map((each) => each.toString(16).padStart(2, "0"));
        const tail = `${hex[0]}${hex[1]}:${hex[2]}${hex[3]}`;
        for (const address of [
          bytes.join("."),
          `::ffff:${bytes.join(".")}`,
          `::ffff:${tail}`,
          `64:ff9b::${tail}`,
          `2002:${tail}::1`,
        ]) {
          expect([address, isAllowed(address)]).toEqual([address, false]);
        }
      }),
    );
    for (const address of [
      "0.0.0.0",
      "::",
      "::1",
      "fd00::1",
      "fe80::1",
      "ff02::1",
      "224.0.0.1",
      "255.255.255.255",
      "x",
      "",
    ]) {
      expect([address, isAllowed(address)]).toEqual([address, false]);
    }
    for (const address of ["8.8.8.8", "2606:4700::1111", "172.32.0.1"]) expect(isAllowed(address)).toBe(true);
    const listed = guard({ url: "https://ok.test/", privateAddresses: ["10.0.0.0/24"] });
    expect([listed.isAllowed("10.0.0.9"), listed.isAllowed("10.0.1.9")]).toEqual([true, false]);
    expect(() => guard({ url: "https://ok.test/", privateAddresses: ["10.0.0.0/99"] })).toThrow(/privateAddresses/);
  });

  it("http-06: a redirect is not followed, and a name that stands for another address later is not called", async () => {
    const inner = await receiver();
    const innerUrl = inner.target.url.replace("hooks.test", "127.0.0.1");
    const outer = await receiver([302], { location: innerUrl });
    const setup = await serverWorld();
    await setup.run(setup.token("olga"), "refund O-1 5000");
    const failures: string[] = [];
    const sent = webhooks(setup, outer.target, { onFailure: ({ reason }) => failures.push(reason) });
    await sent.flush();
    expect(failures).toEqual(["status 302"]);
    expect([outer.received.length, inner.received.length]).toEqual([1, 0]);
    const rebinding = await serverWorld();
    await rebinding.run(rebinding.token("olga"), "refund O-1 5000");
    const reasons: string[] = [];
    await webhooks(rebinding, inner.target, {
      resolve: async () => ["10.1.2.3"],
      onFailure: ({ reason }) => reasons.push(reason),
    }).flush();
    expect(reasons).toEqual([expect.stringContaining("10.1.2.3")]);
    expect(inner.received).toHaveLength(0);
  });
});

describe("a webhook", () => {
  it("is signed, names the question, holds none of its arguments, and is sent once", async () => {
    const { received, target } = await receiver();
    const setup = await serverWorld();
    const sent = webhooks(setup, target);
    await setup.run(setup.token("olga"), "refund O-7 5000", { customer: "C-1" });
    await sent.flush();
    await sent.flush();
    expect(received).toHaveLength(1);
    const [{ headers, body } = { headers: {}, body: "" }] = received;
    const signature = String(headers[SIGNATURE_HEADER]);
    const { approvalId } = await setup.question();
    expect(verifyWebhook(SECRET, body, signature, setup.clock.now())).toBe(true);
    expect(JSON.parse(body)).toMatchObject({
      type: "approval.pending",
      approvalId,
      tool: "refund",
      url: `https://belay.example.com/approvals/${approvalId}`,
    });
    expect(body).not.toMatch(/O-7|C-1/);
    expect(headers["belay-delivery"]).toBe(approvalId);
  });

  it("comes again with growing pauses until it is taken, also after a restart, and not once it is answered", async () => {
    const { received, target } = await receiver([500, 500]);
    const setup = await serverWorld();
    await setup.run(setup.token("olga"), "refund O-1 5000");
    const first = webhooks(setup, target, { retryMs: 1000 });
    await first.flush();
    await first.flush();
    expect(received).toHaveLength(1);
    setup.clock.advance(1000);
    await first.flush();
    expect(received).toHaveLength(2);
    setup.clock.advance(1000);
    await first.flush();
    expect(received).toHaveLength(2);
    await first.close();
    setup.clock.advance(1000);
    const second = webhooks(setup, target);
    await second.flush();
    expect(received).toHaveLength(3);
    setup.clock.advance(3_600_000);
    await second.flush();
    expect(received).toHaveLength(3);
    expect(new Set(received.map(({ headers }) => headers["belay-delivery"])).size).toBe(1);
  });

  it("is not sent for a question that has its answer", async () => {
    const { received, target } = await receiver();
    const setup = await serverWorld();
    await setup.run(setup.token("olga"), "refund O-1 5000");
    const { approvalId, argsHash } = await setup.question();
    const body = { answer: "reject", argsHash };
    await setup.request(setup.token("dana", ["approver"]), "POST", `/v1/approvals/${approvalId}:decide`, body);
    await webhooks(setup, target).flush();
    expect(received).toEqual([]);
  });

  it("needs a secret that nobody guesses", async () => {
    const { target } = await receiver();
    const setup = await serverWorld();
    expect(() => webhooks(setup, target, { secret: "short" })).toThrow(
      expect.objectContaining({ code: "BELAY_SERVER_SETTINGS" }),
    );
  });

  it("verifies only unchanged, with the right secret and in time", () => {
    const now = 1_800_000_000_000;
    const signature = signWebhook(SECRET, "{}", now);
    expect(verifyWebhook(SECRET, "{}", signature, now + 299_000)).toBe(true);
    expect(verifyWebhook(SECRET, "{}", signature, now + 301_000)).toBe(false);
    expect(verifyWebhook(SECRET, "{} ", signature, now)).toBe(false);
    expect(verifyWebhook("t".repeat(32), "{}", signature, now)).toBe(false);
    for (const odd of ["", "t=1", `${signature},v1=x`, signature.replace("v1=", "v1=0")]) {
      expect(verifyWebhook(SECRET, "{}", odd, now)).toBe(false);
    }
  });
});
