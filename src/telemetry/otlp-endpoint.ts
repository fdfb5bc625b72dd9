import { printable } from "../core/index.ts";
import { BelayError } from "../errors.ts";

const PATH_DEFAULT = "/v1/traces";

/**
 * Reads the address of an OTLP/HTTP receiver.
 *
 * An address without a path gets `/v1/traces`, as the OTLP specification has it for a base address. Throws
 * `BELAY_OTLP_ENDPOINT` for what is no http or https URL, and for one that holds credentials, which belong into headers.
 */
export function otlpEndpoint(text: string): URL {
  const url = URL.parse(text);
  if (url === null) {
    throw endpointError(`"${shown(text)}" is no URL`);
  }
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw endpointError(`"${shown(text)}" has the protocol ${printable(url.protocol)}`);
  }
  if (url.username !== "" || url.password !== "") {
    throw endpointError(
      `the address of ${url.host} holds credentials, which would end up in logs; send them as headers`,
    );
  }
  if (url.hash !== "") {
    throw endpointError(`"${shown(text)}" has a fragment`);
  }
  if (url.pathname === "/") {
    url.pathname = PATH_DEFAULT;
  }
  return url;
}

function endpointError(problem: string): BelayError {
  return new BelayError(
    "BELAY_OTLP_ENDPOINT",
    `OTLP endpoint: ${problem}. Give an http or https address such as http://localhost:4318.`,
  );
}

/** What stands before an `@` or in a query may be a secret, also in a text that is no URL. */
function shown(text: string): string {
  return printable(text.replace(/^.*@/s, "...@").replace(/\?.*$/s, "?..."));
}
