import { type Clock, systemClock } from "../../clock.ts";
import { BelayError } from "../../errors.ts";

export interface RestateWakerOptions {
  /** Address of Restate's ingress, such as `http://127.0.0.1:8080`. */
  readonly ingressUrl: string;
  /** Address of Restate's admin API, such as `http://127.0.0.1:9070`; needed to serve. */
  readonly adminUrl: string;
  /** Where a worker listens for Restate. Default `127.0.0.1:9080`; several workers of one machine share the port. */
  readonly listen?: { readonly host?: string; readonly port?: number };
  /**
   * Address by which Restate reaches any of the workers, such as that of a load balancer. Default: what a worker
   * listens on. All workers must have the same: Restate sends a delivery again to the address it began with.
   */
  readonly deploymentUrl?: string;
  /** Beginning of the names in Restate, so that several installations can share one server. Default `belay`. */
  readonly name?: string;
  /** Sent as bearer token to ingress and admin API. It appears in no message. */
  readonly apiKey?: string;
  /** Restate's public keys (`publickeyv1_…`); with them a worker takes deliveries of that server alone. */
  readonly identityKeys?: readonly string[];
  /** Longest pause before a wake whose handler threw, or whose worker died, comes again. Default 500. */
  readonly redeliveryMs?: number;
  /** Runs advanced at once by one `serve`. Default 8. */
  readonly concurrency?: number;
  /** After how long a request to Restate that is not answered has failed. Default 10,000. */
  readonly timeoutMs?: number;
  readonly clock?: Clock;
}

export interface RestateSettings {
  readonly ingressUrl: string;
  readonly adminUrl: string;
  readonly host: string;
  readonly port: number;
  readonly deploymentUrl: string;
  readonly name: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly identityKeys: readonly string[];
  readonly redeliveryMs: number;
  readonly concurrency: number;
  readonly timeoutMs: number;
  readonly clock: Clock;
}

const PORT_DEFAULT = 9080;
// What Restate takes as the beginning of a service's name.
const NAME = /^[a-zA-Z][a-zA-Z0-9_]{0,49}$/;

/** Fills in the defaults; throws `BELAY_WAKER_INVALID` for what cannot work. */
export function settingsOf(options: RestateWakerOptions): RestateSettings {
  const { listen = {}, name = "belay", apiKey } = options;
  const { host = "127.0.0.1", port = PORT_DEFAULT } = listen;
  if (!NAME.test(name)) {
    throw invalid(`name ${JSON.stringify(name)} is no name in Restate; use letters, digits and underscores`);
  }
  if (!Number.isInteger(port) || port < 1 || port > 65_535) {
    throw invalid(`listen.port is ${port}; give a fixed port from 1 to 65535, since Restate keeps the address`);
  }
  return {
    ingressUrl: address("ingressUrl", options.ingressUrl),
    adminUrl: address("adminUrl", options.adminUrl),
    host,
    port,
    deploymentUrl: address("deploymentUrl", options.deploymentUrl ?? `http://${hostInUrl(host)}:${port}`),
    name,
    headers: apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` },
    identityKeys: options.identityKeys ?? [],
    redeliveryMs: positive("redeliveryMs", options.redeliveryMs ?? 500),
    concurrency: positive("concurrency", options.concurrency ?? 8),
    timeoutMs: positive("timeoutMs", options.timeoutMs ?? 10_000),
    clock: options.clock ?? systemClock,
  };
}

function hostInUrl(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** Without a slash at the end, so that paths can be put behind it. The address is not shown: it may hold a password. */
function address(name: string, value: string): string {
  if (!URL.canParse(value) || !/^https?:$/.test(new URL(value).protocol)) {
    throw invalid(`${name} is no address; write http://host:port or https://host:port`);
  }
  return value.replace(/\/+$/, "");
}

function positive(name: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 1) {
    throw invalid(`${name} is ${value}; give a whole number from 1 up`);
  }
  return value;
}

function invalid(message: string): BelayError {
  return new BelayError("BELAY_WAKER_INVALID", message);
}
