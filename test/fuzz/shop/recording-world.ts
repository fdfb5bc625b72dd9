import type { ShopWorld } from "../../../apps/shop/world/shop-world.ts";

/** Something that really happened in the shop; without a run, staff did it. */
export type ShopEffect = { readonly runId?: string; readonly order: string } & (
  | { readonly kind: "refund"; readonly paise: number }
  | { readonly kind: "cancel" }
  | { readonly kind: "email"; readonly to: string }
);

export interface RecordingWorld {
  readonly world: ShopWorld;
  /** In order, without what was rolled back. */
  readonly ledger: readonly ShopEffect[];
}

const ofRun = (runId: string | undefined) => (runId === undefined ? {} : { runId });

/** Watches the writes of a shop from below the tools: what a transaction took back is not in the ledger. */
export function recordingWorld(inner: ShopWorld): RecordingWorld {
  const ledger: ShopEffect[] = [];
  const world: ShopWorld = {
    ...inner,
    transaction: (work) => {
      const before = ledger.length;
      try {
        return inner.transaction(work);
      } catch (error) {
        ledger.length = before;
        throw error;
      }
    },
    insertRefund: (request) => {
      const isWritten = inner.insertRefund(request);
      const { orderId: order, amountPaise: paise, runId } = request;
      if (isWritten) ledger.push({ kind: "refund", order, paise, ...ofRun(runId) });
      return isWritten;
    },
    cancel: (order, by) => {
      const isWritten = inner.cancel(order, by);
      if (isWritten) ledger.push({ kind: "cancel", order, ...ofRun(by.runId) });
      return isWritten;
    },
    insertEmail: (email) => {
      const to = inner.insertEmail(email);
      if (to !== undefined) ledger.push({ kind: "email", order: email.orderId, to, runId: email.runId });
      return to;
    },
  };
  return { world, ledger };
}
