import type { IncomingMessage } from "node:http";
import { HttpProblem } from "./problem.ts";

export interface BodyLimits {
  readonly bytesMax: number;
  /** Milliseconds for the whole body. */
  readonly timeoutMs: number;
}

/**
 * Reads a body that must be small and must arrive in time.
 *
 * Throws `BELAY_BODY_TOO_LARGE` without reading further, at once when `Content-Length` says so, and
 * `BELAY_REQUEST_SLOW` when it is not whole in time.
 */
export async function readBody(request: Request, limits: BodyLimits): Promise<Uint8Array<ArrayBuffer>> {
  const declared = Number(request.headers.get("content-length") ?? 0);
  if (declared > limits.bytesMax) {
    throw tooLarge(limits);
  }
  const reader = request.body?.getReader();
  if (reader === undefined) {
    return new Uint8Array(0);
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  const deadline = expiry(limits);
  try {
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), deadline.expired]);
      if (done) {
        return joined(chunks, size);
      }
      size += value.byteLength;
      if (size > limits.bytesMax) {
        throw tooLarge(limits);
      }
      chunks.push(value);
    }
  } catch (error) {
    reader.cancel().catch(() => undefined);
    throw error;
  } finally {
    deadline.clear();
  }
}

/**
 * The same from Node's own stream, without the web streams and the `Request` that stand between, which cost more than
 * all else that is done to a small body.
 */
export function readIncoming(incoming: IncomingMessage, limits: BodyLimits): Promise<Uint8Array<ArrayBuffer>> {
  const declared = Number(incoming.headers["content-length"] ?? 0);
  if (declared > limits.bytesMax) return Promise.reject(tooLarge(limits));
  return new Promise((resolve, reject) => {
    const chunks: Buffer<ArrayBuffer>[] = [];
    let size = 0;
    const settle = (error: Error | undefined): void => {
      clearTimeout(timer);
      incoming.off("data", onData).off("end", onEnd).off("close", onClose).off("error", settle);
      if (error === undefined) {
        resolve(chunks.length === 1 ? (chunks[0] ?? new Uint8Array(0)) : joined(chunks, size));
      } else {
        incoming.pause();
        reject(error);
      }
    };
    const onData = (chunk: Buffer<ArrayBuffer>): void => {
      size += chunk.byteLength;
      chunks.push(chunk);
      if (size > limits.bytesMax) settle(tooLarge(limits));
    };
    const onEnd = (): void => settle(undefined);
    const onClose = (): void => settle(new HttpProblem("BELAY_REQUEST_INVALID", "the body ended before its end"));
    const timer = setTimeout(() => settle(tooSlow(limits)), limits.timeoutMs);
    incoming.on("data", onData).on("end", onEnd).on("close", onClose).on("error", settle);
  });
}

function expiry(limits: BodyLimits): { readonly expired: Promise<never>; clear(): void } {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(tooSlow(limits)), limits.timeoutMs);
  });
  // Nobody waits for it any more once the body is there.
  expired.catch(() => undefined);
  return { expired, clear: () => clearTimeout(timer) };
}

function tooSlow({ timeoutMs }: BodyLimits): HttpProblem {
  const message = `the body did not arrive within ${timeoutMs} ms; send it faster`;
  return new HttpProblem("BELAY_REQUEST_SLOW", message, { headers: { connection: "close" } });
}

function tooLarge({ bytesMax }: BodyLimits): HttpProblem {
  const message = `the body is larger than ${bytesMax} bytes; send less`;
  return new HttpProblem("BELAY_BODY_TOO_LARGE", message, { headers: { connection: "close" } });
}

function joined(chunks: readonly Uint8Array[], size: number): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.byteLength;
  }
  return whole;
}
