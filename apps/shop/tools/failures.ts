import { type ToolFailure, toolFailure } from "belay-harness";

/** The same words for an order that is not there and for somebody else's, so that nobody can tell them apart. */
export function orderNotFoundText(orderId: string): string {
  return `there is no order ${orderId}`;
}

export function orderNotFound(orderId: string): ToolFailure {
  return toolFailure("ORDER_NOT_FOUND", orderNotFoundText(orderId));
}

export function serviceUnavailable(tool: string): ToolFailure {
  return toolFailure("SERVICE_UNAVAILABLE", `the service behind ${tool} does not answer; try once more`, {
    retryable: true,
  });
}
