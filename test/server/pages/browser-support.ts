import { serve } from "@hono/node-server";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { ensureChromium } from "../../../scripts/ensure-chromium.ts";
import { type TestConsole, type TestConsoleOptions, testConsole } from "./support.ts";

const found = ensureChromium();

/** Why there is no browser to test in. */
export function chromiumProblem(): string | undefined {
  return "path" in found ? undefined : `browser tests skipped: ${found.problem}`;
}

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    ...("path" in found ? { executablePath: found.path } : {}),
    args: [
      ...["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
      ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
    ],
  });
}

export interface ServedConsole extends TestConsole {
  readonly url: string;
  stop(): Promise<void>;
}

/** The test's console on a port of its own, on loopback. */
export async function serveConsole(options: TestConsoleOptions = {}): Promise<ServedConsole> {
  const console = testConsole({ isReal: true, ...options });
  const { server, port } = await new Promise<{ server: ReturnType<typeof serve>; port: number }>((resolve) => {
    const server = serve({ fetch: console.app.fetch, port: 0, hostname: "127.0.0.1" }, (info) =>
      resolve({ server, port: info.port }),
    );
  });
  return {
    ...console,
    url: `http://127.0.0.1:${port}`,
    stop: () =>
      new Promise((resolve) => {
        if ("closeAllConnections" in server) server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** A page of a browser in which one of the people is signed in. */
export async function openAs(
  browser: Browser,
  { url }: ServedConsole,
  who: string,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const context = await browser.newContext({ baseURL: url, viewport: { width: 1280, height: 900 }, ...options });
  if (who !== "") await context.addCookies([{ name: "who", value: who, url }]);
  return context.newPage();
}
