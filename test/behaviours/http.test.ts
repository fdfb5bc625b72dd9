import { createServer as createHttpServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import type { WebhookTarget } from "../../src/config.ts";
import { listen } from "../../src/server/index.ts";
import { createAddressGuard } from "../../src/server/webhook/address-guard.ts";
import { post } from "../../src/server/webhook/post.ts";
import { testConsole } from "../server/pages/support.ts";
import { serverWorld } from "../server/support.ts";

/** Breaks out of an attribute, of a title, of a script and of a comment, where nothing is escaped. */
const NAME = `"><svg/onload=alert(1)></title><script>alert(2)</script>'-->`;

/** Markup of ours that is not written as text. */
const ALIVE = /<svg\/onload|onload=alert\(1\)>|<script>alert|"><svg|<\/title><script/u;

describe("what a customer is called", () => {
  it("http-03: is text on every page, in attributes and in titles", async () => {
    const console = testConsole();
    const { runId, conversationId } = await console.run(`refund order ${NAME}`, `C-1 ${NAME}`);
    const paths = ["/", "/runs", `/runs/${runId}`, `/chat/${conversationId}`, "/approvals", "/audit"];
    const asked = [`/runs?person=${encodeURIComponent(NAME)}`, `/runs?reason=${encodeURIComponent(NAME)}`];
    for (const path of [...paths, ...asked]) {
      const response = await console.get(path);
      expect(response.headers.get("content-type")).toMatch(/^text\/html/);
      const html = await response.text();
      expect([path, ALIVE.exec(html)?.[0]]).toEqual([path, undefined]);
    }
    expect(await (await console.get(`/runs/${runId}`)).text()).toContain("&lt;svg/onload=alert(1)&gt;");
  });

  it("http-03: is JSON that no browser takes for a page", async () => {
    const setup = await serverWorld();
    const olga = setup.token("olga");
    const runId = await setup.run(olga, `search ${NAME}`);
    const response = await setup.request(olga, "GET", `/v1/runs/${runId}`);
    expect(response.headers.get("content-type")).toMatch(/^application\/json/);
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  });
});

const GOOD: WebhookTarget = { url: "https://ok.test/", hosts: ["ok.test"] };
const REFUSED = expect.objectContaining({ code: "BELAY_WEBHOOK_REFUSED" });

describe("where a webhook goes", () => {
  const places = [
    "http://169.254.169.254/",
    "http://[::ffff:127.0.0.1]/",
    "http://2130706433/",
    "https://0x7f000001/",
    "https://[::1]/",
    "https://[fd00::1]/",
    "ftp://ok.test/",
    "https://ok.test:22/",
    "https://ok.test@127.0.0.1/",
  ];
  it.each(places)("http-06: not to %s", (url) => {
    // Also when the operator has listed the very host: an inner address needs to be listed as one.
    const hosts = ["ok.test", URL.canParse(url) ? new URL(url).hostname : ""];
    expect(() => createAddressGuard({ ...GOOD, url, hosts }, async () => ["93.184.216.34"])).toThrow(REFUSED);
  });

  it("http-06: a name is looked at for each connection, and one bad address is enough", async () => {
    const answers = [["93.184.216.34"], ["127.0.0.1"], ["93.184.216.34", "10.0.0.1"], []];
    const guard = createAddressGuard(GOOD, async () => answers.shift() ?? []);
    expect(await guard.resolve()).toBe("93.184.216.34");
    expect(() => createAddressGuard({ ...GOOD, url: "https://ok.test.evil.test/" })).toThrow(REFUSED);
    for (const _bad of [1, 2, 3]) await expect(guard.resolve()).rejects.toEqual(REFUSED);
  });

  it("http-06: a redirect is an answer like any other, and nobody follows it", async () => {
    const asked: (string | undefined)[] = [];
    const server = createHttpServer((request, response) => {
      asked.push(request.url);
      response.writeHead(307, { location: "/inner" }).end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const url = `http://ok.test:${port}/out`;
    const target = { ...GOOD, url, ports: [port], schemes: ["http"] as const, privateAddresses: ["127.0.0.1"] };
    const guard = createAddressGuard(target, async () => ["127.0.0.1"]);
    expect(await post(guard, "{}", {}, 5000)).toEqual({ ok: false, reason: "status 307" });
    expect(asked).toEqual(["/out"]);
  });
});

/** Sends a request by hand and gives what came back when the connection closes. */
function send(port: number, head: string, more: readonly string[] = []): Promise<string> {
  return new Promise((resolve) => {
    let text = "";
    const socket = connect(port, "127.0.0.1");
    const timer = setInterval(() => socket.write(more[0] ?? ""), 50);
    socket.on("data", (chunk) => {
      text += chunk.toString("latin1");
    });
    socket.on("error", () => undefined);
    socket.on("close", () => {
      clearInterval(timer);
      resolve(text);
    });
    socket.write(head);
  });
}

describe("a request that is too much", () => {
  const paths = ["/v1/runs", "/v1/approvals/apr_1/decide"];
  it.each(paths)(
    "http-09: 200 MB or one byte after the other to %s is refused, and others are served",
    async (path) => {
      const setup = await serverWorld({ options: { limits: { bodyTimeoutMs: 300 } } });
      const server = await listen(setup.app, { port: 0 });
      onTestFinished(() => server.close(0));
      const token = setup.token("olga", ["operator", "approver"]);
      const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n`;
      const large = send(server.port, `${head}Content-Length: 209715200\r\n\r\n`);
      const slow = send(server.port, `${head}Content-Length: 100\r\n\r\n`, [" "]);
      const other = await fetch(`http://127.0.0.1:${server.port}/v1/runs`, {
        headers: { authorization: `Bearer ${token}` },
      });
      expect(other.status).toBe(200);
      expect(await large).toMatch(/^HTTP\/1.1 413 /);
      expect(await slow).toMatch(/^HTTP\/1.1 408 /);
      expect(await setup.store.runs({ tenant: "default" })).toEqual([]);
    },
  );
});
