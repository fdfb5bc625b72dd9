import { BlockList, isIP } from "node:net";
import { BelayError } from "../../errors.ts";
import type { ServerContext } from "./env.ts";

/** Where a request came from, and whether over TLS. */
export interface ClientAddress {
  readonly address: string;
  readonly isSecure: boolean;
}

/** A list of addresses and ranges (`10.0.0.7`, `10.0.0.0/24`, `fd00::/8`). Throws `BELAY_SERVER_SETTINGS`. */
export function addressList(entries: readonly string[], setting: string): BlockList {
  const list = new BlockList();
  for (const entry of entries) {
    const [address = "", prefix, ...rest] = entry.split("/");
    const family = familyOf(address);
    const bits = prefix === undefined ? (family === "ipv6" ? 128 : 32) : Number(prefix);
    const isValid = isIP(address) !== 0 && rest.length === 0 && Number.isInteger(bits) && bits >= 0;
    if (!isValid || bits > (family === "ipv6" ? 128 : 32)) {
      throw new BelayError(
        "BELAY_SERVER_SETTINGS",
        `${setting} names ${JSON.stringify(entry)}. Give an address or a range, such as 10.0.0.7 or 10.0.0.0/24.`,
      );
    }
    list.addSubnet(address, bits, family);
  }
  return list;
}

export function isListed(list: BlockList, address: string): boolean {
  return isIP(address) !== 0 && list.check(address, familyOf(address));
}

/**
 * Reads where a request came from.
 *
 * `X-Forwarded-For` and `X-Forwarded-Proto` are words of the sender and count only when a trusted proxy says them: the
 * address is the last one that is no trusted proxy itself.
 */
export function clientAddress(context: ServerContext, trusted: BlockList): ClientAddress {
  // A request that was made without a socket, as tests do, has no bindings at all.
  const env: ServerContext["env"] | undefined = context.env;
  const socket = env?.incoming?.socket;
  const peer = socket?.remoteAddress ?? "local";
  const isTls = socket !== undefined && "encrypted" in socket && socket.encrypted === true;
  if (!isListed(trusted, peer)) {
    return { address: peer, isSecure: isTls };
  }
  const hops = (context.req.header("x-forwarded-for") ?? "").split(",").map((hop) => hop.trim());
  const address = hops.reverse().find((hop) => isIP(hop) !== 0 && !isListed(trusted, hop)) ?? peer;
  return { address, isSecure: isTls || context.req.header("x-forwarded-proto")?.trim().toLowerCase() === "https" };
}

function familyOf(address: string): "ipv4" | "ipv6" {
  return isIP(address) === 6 ? "ipv6" : "ipv4";
}
