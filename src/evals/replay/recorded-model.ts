import { BelayError } from "../../errors.ts";
import type { GenerateOptions, ModelClient, ModelReply } from "../../model/index.ts";
import { readRecording, recordedModel, writeRecording } from "./recording-file.ts";
import { hashOf, recordedRequest } from "./request-hash.ts";

/**
 * A model that writes each of its replies into a file of `folder`, by the hash of the request.
 *
 * A call that fails leaves no file. The files hold what the model was shown, so customers' words too.
 */
export function recordingModel(model: ModelClient, folder: string): ModelClient {
  return {
    id: model.id,
    generate: async (request, options) => {
      const reply = await model.generate(request, options);
      writeRecording(folder, recordedRequest(model.id, request), reply);
      return reply;
    },
  };
}

export interface ReplayModelOptions {
  /** Default true: a request that nobody recorded fails. Otherwise `fallback` answers it, and its reply is recorded. */
  readonly strict?: boolean;
  /** Needed when not strict. */
  readonly fallback?: ModelClient;
}

/**
 * A model that gives the recorded replies of a folder, and needs no network.
 *
 * `generate` throws `BELAY_RECORDING_MISSING` for a request that was not recorded, and `BELAY_RECORDING_INVALID` for a
 * file that is damaged or was changed. Throws `BELAY_RECORDING_MISSING` for an empty folder, and
 * `BELAY_RECORDING_INVALID` for replies of two models and for `strict: false` without a fallback.
 */
export function replayModel(folder: string, { strict = true, fallback }: ReplayModelOptions = {}): ModelClient {
  if (!strict && fallback === undefined) {
    throw new BelayError(
      "BELAY_RECORDING_INVALID",
      "a replay that is not strict needs a model for what was not recorded; give it a fallback",
    );
  }
  const other = strict ? undefined : fallback;
  const id = other?.id ?? recordedModel(folder);
  if (id === undefined) {
    throw new BelayError(
      "BELAY_RECORDING_MISSING",
      `there is no recording in ${folder}; make some with recordingModel`,
    );
  }
  const recording = other === undefined ? undefined : recordingModel(other, folder);
  return {
    id,
    generate: async (request, options) => {
      options.signal.throwIfAborted();
      const recorded = recordedRequest(id, request);
      const hash = hashOf(recorded);
      const reply = readRecording(folder, hash);
      if (reply !== undefined) {
        return tell(reply, options);
      }
      if (recording === undefined) {
        throw new BelayError(
          "BELAY_RECORDING_MISSING",
          `${folder} has no reply of ${id} to the request ${hash}: the prompt, the tools or a result changed since ` +
            "it was recorded. Record it again.",
        );
      }
      return await recording.generate(request, options);
    },
  };
}

function tell(reply: ModelReply, { onDelta }: GenerateOptions): ModelReply {
  if (reply.kind !== "unreadable" && reply.text !== "") {
    onDelta?.(reply.text);
  }
  return reply;
}
