type Fetch = (url: string | URL, init?: RequestInit) => Promise<Response>;

const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;

/**
 * A `fetch` whose replies end with an error when one message in them is larger than `bytesMax`.
 *
 * A stream of events may go on for ever, so there each event is measured: a blank line starts the count anew.
 */
export function boundedFetch(inner: Fetch, bytesMax: number): Fetch {
  return async (url, init) => {
    const response = await inner(url, init);
    if (response.body === null) {
      return response;
    }
    const isStream = response.headers.get("content-type")?.includes("text/event-stream") === true;
    const body = response.body.pipeThrough(measured(bytesMax, isStream));
    const { status, statusText, headers } = response;
    return new Response(body, { status, statusText, headers });
  };
}

function measured(bytesMax: number, isStream: boolean): TransformStream<Uint8Array, Uint8Array> {
  let bytes = 0;
  return new TransformStream({
    transform(chunk, controller) {
      bytes += chunk.byteLength;
      if (bytes > bytesMax) {
        controller.error(new RangeError(`a message of the server is larger than ${bytesMax} bytes`));
        return;
      }
      if (isStream) {
        const end = lastBlankLine(chunk);
        bytes = end === -1 ? bytes : chunk.byteLength - end;
      }
      controller.enqueue(chunk);
    },
  });
}

/** Where the text after the last blank line begins; a blank line over two chunks is missed, which only counts more. */
function lastBlankLine(chunk: Uint8Array): number {
  for (let at = chunk.length - 1; at > 0; at -= 1) {
    const before = chunk[at - 1] === CARRIAGE_RETURN ? chunk[at - 2] : chunk[at - 1];
    if (chunk[at] === LINE_FEED && before === LINE_FEED) {
      return at + 1;
    }
  }
  return -1;
}
