import { decodeFrontier, rootOf, signCheckpoint } from "../audit/index.ts";
import { type Command, DATABASE_OPTIONS, hasFlag, JSON_OPTION } from "./command.ts";
import { openStore, placeOf, withStore } from "./place.ts";
import { ensureSigner, LOG_ORIGIN } from "./signing-key.ts";

export const auditCheckpointCommand: Command = {
  name: "audit checkpoint",
  summary: "sign what the audit log holds now; keep the note where the operator cannot write",
  positionals: [],
  options: {
    "key-file": {
      type: "string",
      value: "file",
      help: "Ed25519 key, made at first use (default audit-key.pem beside the database)",
    },
    ...JSON_OPTION,
    ...DATABASE_OPTIONS,
  },
  examples: ["audit checkpoint > monday.note", "audit checkpoint --json"],
  run: async (input) => {
    const place = placeOf(input);
    return withStore(openStore(place), async (store) => {
      const frontier = decodeFrontier(await store.audit.frontier());
      const checkpoint = { origin: LOG_ORIGIN, size: frontier.size, root: rootOf(frontier) };
      const signer = ensureSigner(input, place);
      const note = signCheckpoint(checkpoint, signer);
      await store.audit.saveCheckpoint(note, checkpoint.size);
      if (hasFlag(input, "json")) {
        input.output.json({ ...checkpoint, verifierKey: signer.verifierKey, note }, 2);
      } else {
        input.output.raw(note);
        input.output.progress(`Check it with --key ${signer.verifierKey}`);
      }
      return 0;
    });
  },
};
