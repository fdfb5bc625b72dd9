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
  const deadline = expiry(limits.timeoutMs);
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

function expiry(timeoutMs: number): { readonly expired: Promise<never>; clear(): void } {
  let timer: NodeJS.Timeout | undefined;
  const expired = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      const message = `the body did not arrive within ${timeoutMs} ms; send it faster`;
      reject(new HttpProblem("BELAY_REQUEST_SLOW", message, { headers: { connection: "close" } }));
    }, timeoutMs);
  });
  // Nobody waits for it any more once the body is there.
  expired.catch(() => undefined);
  return { expired, clear: () => clearTimeout(timer) };
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
