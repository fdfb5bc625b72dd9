import { scriptedTextModel, type TextModel } from "../model/index.ts";

/** The scripted model of one case: each turn of the conversation has its own replies. */
export interface CaseModel extends TextModel {
  /** Puts in the replies of the next turn. */
  load(script: readonly string[]): void;
  /** What is wrong with the use of the replies since `load`, or nothing. */
  problem(): string | undefined;
}

/** Makes a text model with the id `scripted` that says what its script says, and fails when the script is over. */
export function createCaseModel(): CaseModel {
  let script: readonly string[] = [];
  let model = scriptedTextModel(script);
  return {
    id: model.id,
    load: (replies) => {
      script = replies;
      model = scriptedTextModel(replies);
    },
    problem: () => {
      const asked = model.requests.length;
      if (asked > script.length) {
        return `the model was asked ${asked} times and the script has ${script.length} replies`;
      }
      return asked < script.length
        ? `${script.length - asked} of ${script.length} scripted replies were not used`
        : undefined;
    },
    complete: (request, options) => model.complete(request, options),
  };
}
