import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { serve } from "@hono/node-server";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { type TestConsole, type TestConsoleOptions, testConsole } from "./support.ts";

export const CHROMIUM = "/usr/bin/chromium";
const APT = "/usr/bin/apt-get";

/** Installs Debian's Chromium when it is missing and this machine allows it; says what is the matter otherwise. */
export function chromiumProblem(): string | undefined {
  if (existsSync(CHROMIUM)) return undefined;
  try {
    execFileSync(APT, ["update"], { stdio: "ignore", timeout: 120_000 });
    execFileSync(APT, ["install", "-y", "chromium"], { stdio: "ignore", timeout: 400_000 });
  } catch {
    // Said below.
  }
  return existsSync(CHROMIUM)
    ? undefined
    : `browser tests skipped: ${CHROMIUM} is missing and apt could not install it; install Chromium and run them again`;
}

export function launchBrowser(): Promise<Browser> {
  return chromium.launch({
    executablePath: CHROMIUM,
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
