import { BelayError } from "../errors.ts";

/** Whether a URL names this machine: what it means must not depend on a name server. */
export function isLoopback({ hostname }: URL): boolean {
  // URLs are normalised, so that 127.1 and 0x7f000001 are written like this too.
  return hostname === "localhost" || hostname === "[::1]" || /^127(?:\.[0-9]{1,3}){3}$/.test(hostname);
}

/** Throws `BELAY_NETWORK_REFUSED` for a URL outside this machine unless that is allowed. */
export function checkNetwork(url: URL, what: string, isAllowed: boolean): void {
  if (!isAllowed && !isLoopback(url)) {
    throw new BelayError(
      "BELAY_NETWORK_REFUSED",
      `${what} is at ${url.host}, outside this machine. Pass --allow-network to let prompts go there.`,
    );
  }
}

/** A `fetch` that reaches one origin and follows no redirect, so that nobody can send a prompt and its key elsewhere. */
export function fetchOnly(origin: string): typeof fetch {
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input);
    if (url.origin !== origin) {
      throw new BelayError(
        "BELAY_NETWORK_REFUSED",
        `The model's package asked for ${url.origin} instead of ${origin}. Check its base URL.`,
      );
    }
    return await fetch(input, { ...init, redirect: "error" });
  };
}
