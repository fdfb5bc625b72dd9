import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { isIP, type LookupFunction } from "node:net";
import type { AddressGuard } from "./address-guard.ts";

export type Posted = { readonly ok: true } | { readonly ok: false; readonly reason: string };

const ANSWER_BYTES_MAX = 65_536;

/**
 * Posts a body to the guard's address and follows no redirect.
 *
 * The connection is made to the very address that was checked; a name is not resolved a second time. Never throws.
 */
export async function post(
  guard: AddressGuard,
  body: string,
  headers: Readonly<Record<string, string>>,
  timeoutMs: number,
): Promise<Posted> {
  try {
    const address = await guard.resolve();
    const status = await send(guard, address, body, headers, timeoutMs);
    // 3xx is no success either: where it points to was listed by nobody.
    return status >= 200 && status < 300 ? { ok: true } : { ok: false, reason: `status ${status}` };
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message.slice(0, 200) : "unknown" };
  }
}

function send(
  { url, isAllowed }: AddressGuard,
  address: string,
  body: string,
  headers: Readonly<Record<string, string>>,
  timeoutMs: number,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const family = isIP(address);
    const lookup: LookupFunction = (_host, options, done) => {
      if (options.all === true) done(null, [{ address, family }]);
      else done(null, address, family);
    };
    const request = (url.protocol === "https:" ? requestHttps : requestHttp)(
      url,
      {
        method: "POST",
        agent: false,
        lookup,
        headers: { ...headers, "content-type": "application/json", "content-length": Buffer.byteLength(body) },
        signal: AbortSignal.timeout(timeoutMs),
      },
      (response) => {
        let size = 0;
        response.on("data", (chunk: Buffer) => {
          size += chunk.length;
          if (size > ANSWER_BYTES_MAX) response.destroy();
        });
        resolve(response.statusCode ?? 0);
      },
    );
    request.on("socket", (socket) => {
      socket.on("connect", () => {
        if (!isAllowed(socket.remoteAddress ?? ""))
          socket.destroy(new Error("connected to an address that is not allowed"));
      });
    });
    request.on("error", reject);
    request.end(body);
  });
}
