import { lookup } from "node:dns/promises";
import { type BlockList, isIP } from "node:net";
import type { WebhookTarget } from "../../config.ts";
import { BelayError } from "../../errors.ts";
import { addressList, isListed } from "../http/client-address.ts";

/**
 * Networks that are nobody's host on the internet: loopback, private, link-local, shared, documentation, multicast,
 * reserved, and the ways to write an IPv4 address inside an IPv6 one (IANA special-purpose address registries). An
 * IPv4-mapped address (::ffff:10.0.0.1) is looked up as the IPv4 address that it is.
 */
const SPECIAL = [
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24"],
  ...["192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"],
  ...["224.0.0.0/4", "240.0.0.0/4", "::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64"],
  ...["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20", "5f00::/16", "fc00::/7", "fe80::/10", "ff00::/8"],
];

/** Resolves a name to all its addresses; tests give their own. */
export type Resolve = (host: string) => Promise<readonly string[]>;

/** Says to which address a webhook may connect, at the moment of connecting. */
export interface AddressGuard {
  readonly url: URL;
  /** An address of the host that may be called. Throws `BELAY_WEBHOOK_REFUSED` when it has any that may not. */
  resolve(): Promise<string>;
  isAllowed(address: string): boolean;
}

/**
 * Checks where a webhook may be sent to.
 *
 * Throws `BELAY_WEBHOOK_REFUSED` at once for a scheme, host or port that the operator did not list, and for an address
 * of a private network that they did not list too. The address that a name stands for is looked at again for each
 * connection, because it may change in between.
 */
export function createAddressGuard(target: WebhookTarget, resolve: Resolve = resolveAll): AddressGuard {
  const url = checkedUrl(target);
  const special = addressList(SPECIAL, "special networks");
  const exceptions = addressList(target.privateAddresses ?? [], "webhook.privateAddresses");
  const isAllowed = (address: string): boolean => allowed(address, special, exceptions);
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (isIP(host) !== 0 && !isAllowed(host)) throw refused(`${host} is in a private or special network`);
  return {
    url,
    isAllowed,
    async resolve() {
      const addresses = isIP(host) === 0 ? await resolve(host) : [host];
      // One bad address among good ones is how a name is rebound.
      const bad = addresses.find((address) => !isAllowed(address));
      const [address] = addresses;
      if (bad !== undefined) throw refused(`${url.hostname} stands for ${bad}, in a private or special network`);
      if (address === undefined) throw refused(`${url.hostname} has no address`);
      return address;
    },
  };
}

function allowed(address: string, special: BlockList, exceptions: BlockList): boolean {
  if (isIP(address) === 0) return false;
  return isListed(exceptions, address) || !isListed(special, address);
}

function checkedUrl({ url: text, hosts, ports = [443], schemes = ["https"] }: WebhookTarget): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined) throw refused("it is no URL");
  if (!schemes.some((scheme) => url.protocol === `${scheme}:`))
    throw refused(`its scheme ${url.protocol} is not listed`);
  if (url.username !== "" || url.password !== "") throw refused("it carries credentials");
  if (!hosts.some((host) => host.toLowerCase() === url.hostname))
    throw refused(`the host ${url.hostname} is not listed`);
  const port = url.port === "" ? (url.protocol === "https:" ? 443 : 80) : Number(url.port);
  if (!ports.includes(port)) throw refused(`the port ${port} is not listed`);
  return url;
}

function refused(reason: string): BelayError {
  return new BelayError(
    "BELAY_WEBHOOK_REFUSED",
    `The webhook is not sent: ${reason}. List scheme, host, port and private addresses in 'webhook' of the configuration.`,
  );
}

async function resolveAll(host: string): Promise<readonly string[]> {
  return (await lookup(host, { all: true })).map(({ address }) => address);
}
