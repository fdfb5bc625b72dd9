import { mkdtempSync, rmSync } from "node:fs";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { listen, openServerDatabase, type ServerOptions } from "../../src/server/index.ts";
import { type ServerWorld, serverWorld } from "./support.ts";

async function served(
  options: Partial<ServerOptions> = {},
  timeouts: { requestTimeoutMs?: number; headersTimeoutMs?: number } = {},
) {
  const setup = await serverWorld({ options });
  return { setup, ...(await listening(setup, timeouts)) };
}

async function listening(setup: ServerWorld, timeouts: { requestTimeoutMs?: number; headersTimeoutMs?: number } = {}) {
  const server = await listen(setup.app, { port: 0, ...timeouts });
  onTestFinished(() => server.close(0));
  return { server, url: `http://127.0.0.1:${server.port}` };
}

/** Sends raw bytes, some now and the rest as told, and collects the answer until the connection closes. */
function raw(port: number, head: string, feed: (write: (data: string | Buffer) => boolean) => void = () => undefined) {
  return new Promise<string>((resolve) => {
    const socket = connect(port, "127.0.0.1");
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
    });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(text));
    socket.write(head);
    feed((data) => !socket.destroyed && socket.write(data));
  });
}

const post = (token: string, more: string) =>
  `POST /v1/runs HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n${more}\r\n`;

describe("over a socket", () => {
  it("http-09: 200 MB and one byte a second are refused, and others are served meanwhile", async () => {
    const { setup, server, url } = await served({ limits: { bodyTimeoutMs: 400 } });
    const olga = setup.token("olga");
    const declared = raw(server.port, post(olga, "Content-Length: 209715200\r\n"));
    const streamed = raw(server.port, post(olga, "Transfer-Encoding: chunked\r\n"), (write) => {
      const chunk = Buffer.concat([Buffer.from("10000\r\n"), Buffer.alloc(65_536, "x"), Buffer.from("\r\n")]);
      let sent = 0;
      const more = (): void => {
        sent += 1;
        if (sent <= 3200 && write(chunk) !== undefined) setImmediate(more);
      };
      more();
    });
    const slow = raw(server.port, post(olga, "Content-Length: 60\r\n"), (write) => {
      const timer = setInterval(() => write("x"), 100);
      onTestFinished(() => clearInterval(timer));
    });
    const other = await fetch(`${url}/v1/runs`, { headers: { authorization: `Bearer ${olga}` } });
    expect(other.status).toBe(200);
    expect(await declared).toMatch(/^HTTP\/1.1 413 /);
    expect(await declared).toContain("BELAY_BODY_TOO_LARGE");
    expect(await streamed).toMatch(/^HTTP\/1.1 413 |^$/);
    expect(await slow).toMatch(/^HTTP\/1.1 408 /);
    expect(await slow).toContain("BELAY_REQUEST_SLOW");
    expect(await setup.store.runs({ tenant: "default" })).toEqual([]);
  });

  it("cuts off headers that never end, and refuses headers that are too many bytes", async () => {
    const { server } = await served({}, { headersTimeoutMs: 300, requestTimeoutMs: 600 });
    const slow = raw(server.port, "GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: ");
    const large = raw(server.port, `GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nX-A: ${"a".repeat(20_000)}\r\n\r\n`);
    expect(await large).toMatch(/^HTTP\/1.1 431 /);
    expect(await slow).toMatch(/^HTTP\/1.1 408 /);
  });

  it("believes a proxy only when it is trusted", async () => {
    const cookieOf = async (options: Partial<ServerOptions>) => {
      const { url } = await served({ ...options, limits: { perAddress: { burst: 3, perMinute: 1 } } });
      const statuses: number[] = [];
      let headers = new Headers();
      for (let count = 0; count < 5; count += 1) {
        const forwarded = { "x-forwarded-proto": "https", "x-forwarded-for": `203.0.113.9, 198.51.100.${count}` };
        const response = await fetch(`${url}/openapi.json`, { headers: forwarded });
        statuses.push(response.status);
        headers = response.headers;
      }
      return { statuses, transport: headers.get("strict-transport-security") };
    };
    expect(await cookieOf({})).toEqual({ statuses: [200, 200, 200, 429, 429], transport: null });
    // The address beside the proxy's own counts, and no further one that the sender made up.
    expect(await cookieOf({ trustedProxies: ["127.0.0.0/8"] })).toEqual({
      statuses: [200, 200, 200, 200, 200],
      transport: "max-age=31536000",
    });
  });

  it("lets a reader of events take up where the connection broke", async () => {
    const { setup, url } = await served();
    const olga = setup.token("olga");
    const runId = await setup.run(olga, "refund O-1 5000");
    const open = (lastId?: string) =>
      new Promise<IncomingMessage>((resolve, reject) => {
        const headers = {
          authorization: `Bearer ${olga}`,
          ...(lastId === undefined ? {} : { "last-event-id": lastId }),
        };
        httpRequest(`${url}/v1/runs/${runId}/events`, { headers }, resolve).on("error", reject).end();
      });
    const first = await open();
    let seen = "";
    for await (const chunk of first) {
      seen += String(chunk);
      if (seen.includes("approval.requested")) break;
    }
    first.destroy();
    await expect.poll(() => setup.live.watchers).toBe(0);
    const ids = [...seen.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
    const { approvalId, argsHash } = await setup.question();
    await fetch(`${url}/v1/approvals/${approvalId}:decide`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${setup.token("dana", ["approver"])}`,
        "content-type": "application/json",
      },
      body: JSON.stringify({ answer: "approve", argsHash }),
    });
    let rest = "";
    for await (const chunk of await open(String(ids.at(-1)))) rest += String(chunk);
    const later = [...rest.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
    const entries = await setup.store.read({ tenant: "default", runId });
    expect([...ids, ...later]).toEqual(entries.map(({ seq }) => seq));
  });

  it("stops: takes no more, ends streams, and is gone", async () => {
    const { setup, server, url } = await served();
    const olga = setup.token("olga");
    const runId = await setup.run(olga, "refund O-1 5000");
    const stream = await fetch(`${url}/v1/runs/${runId}/events`, { headers: { authorization: `Bearer ${olga}` } });
    const closing = server.close(5000);
    await setup.live.close();
    expect(await stream.text()).toContain("approval.requested");
    await closing;
    await expect(fetch(`${url}/healthz`)).rejects.toThrow();
  });

  it("says which port is taken", async () => {
    const { setup, server } = await served();
    await expect(listen(setup.app, { port: server.port })).rejects.toMatchObject({
      code: "BELAY_SERVER_ADDRESS",
      message: expect.stringContaining(String(server.port)),
    });
    await expect(listen(setup.app, { port: 0, host: "192.0.2.1" })).rejects.toMatchObject({
      code: "BELAY_SERVER_ADDRESS",
    });
  });
});

describe("a new server on the same files", () => {
  it("goes on in the middle of a pause: same people, same question, and the money moves once", async () => {
    const folder = mkdtempSync(join(tmpdir(), "belay-server-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const open = async () => {
      const store = await openSqliteStore(join(folder, "belay.db"));
      const database = openServerDatabase(join(folder, "belay-server.db"));
      const setup = await serverWorld({ store, database, isWorking: false });
      const working = await setup.harness.work();
      const { server, url } = await listening(setup);
      const stop = async () => {
        await server.close(0);
        await setup.live.close();
        await working.close();
        await store.close();
        database.close();
      };
      return { setup, url, stop };
    };
    const before = await open();
    const [olga, dana] = [before.setup.token("olga"), before.setup.token("dana", ["approver"])];
    const runId = await before.setup.run(olga, "refund O-1 5000", { customer: "C-1" });
    const { approvalId, argsHash } = await before.setup.question();
    await before.stop();
    const after = await open();
    const call = async (method: string, path: string, token: string, body?: object) =>
      fetch(`${after.url}${path}`, {
        method,
        headers: { authorization: `Bearer ${token}`, ...(body && { "content-type": "application/json" }) },
        ...(body && { body: JSON.stringify(body) }),
      });
    expect(
      (await call("POST", `/v1/approvals/${approvalId}:decide`, olga, { answer: "approve", argsHash })).status,
    ).toBe(403);
    const approved = await call("POST", `/v1/approvals/${approvalId}:decide`, dana, { answer: "approve", argsHash });
    expect([approved.status, await approved.json()]).toEqual([
      200,
      expect.objectContaining({ status: "approved", isLookedAt: true }),
    ]);
    expect(await (await call("GET", `/v1/runs/${runId}`, olga)).json()).toMatchObject({
      status: expect.stringMatching(/done|running/),
    });
    expect([before.setup.effects, after.setup.effects]).toEqual([[], ["O-1:5000"]]);
    await after.stop();
  });
});
