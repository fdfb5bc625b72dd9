import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context } from "hono";
import type { SignedIn } from "../deps.ts";

/** What the layers of the server know of a request. */
export interface ServerEnv {
  Bindings: { readonly incoming?: IncomingMessage; readonly outgoing?: ServerResponse };
  Variables: {
    /** Address of whoever sent it, seen through trusted proxies. */
    address: string;
    /** It came over TLS, to us or to a trusted proxy. */
    isSecure: boolean;
    signedIn?: SignedIn;
    /** The session's secret, when a cookie and not a token said who it is. */
    session?: string;
    requestId: string;
    /** Secret of the form cookie that this answer sets. */
    formSecret?: string;
  };
}

export type ServerContext = Context<ServerEnv>;
