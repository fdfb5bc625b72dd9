import type { NoteSigner } from "../../audit/index.ts";
import { BelayError } from "../../errors.ts";
import type { SignedIn } from "../deps.ts";
import type { ServerContext } from "../http/env.ts";
import type { OperationContext } from "../operations/context.ts";
import type { Operations } from "../operations/operation.ts";

/** What the routes of the API work with. */
export interface RouteContext extends OperationContext {
  readonly operations: Operations;
  readonly signer?: NoteSigner;
  readonly heartbeatMs: number;
  /** Whether the server takes requests: false while it stops. */
  readonly isReady: () => boolean;
}

/** Who sent the request. Throws `BELAY_NOT_SIGNED_IN`. */
export function signedInOf(context: ServerContext): SignedIn {
  const signedIn = context.get("signedIn");
  if (signedIn === undefined) {
    throw new BelayError("BELAY_NOT_SIGNED_IN", "nobody is signed in; send a token, or sign in with a link");
  }
  return signedIn;
}
