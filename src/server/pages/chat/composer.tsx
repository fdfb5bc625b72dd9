import { randomUUID } from "node:crypto";
import type { Html } from "../html.ts";
import type { PageProblem } from "../session.ts";
import { Csrf, Notice } from "../shell/frame.tsx";
import type { View } from "../shell/kit.ts";

/** The form for a message: to a new conversation of one of the apps, or to the one that is open. */
export function Composer(props: {
  readonly view: View;
  readonly action: string;
  readonly apps?: readonly { readonly name: string; readonly description: string }[];
  readonly charactersMax: number;
  readonly text?: string;
  readonly problem?: PageProblem;
  readonly isBusy?: boolean;
}): Html {
  const { view, action, apps, charactersMax, text = "", problem, isBusy = false } = props;
  return (
    <form class="panel composer" method="post" action={action}>
      <Csrf view={view} />
      <input type="hidden" name="key" value={randomUUID()} />
      {problem === undefined ? "" : <Notice tone="bad" title={problem.detail} />}
      <label for="text">{apps === undefined ? "Your message" : "New conversation"}</label>
      <textarea id="text" name="text" required maxlength={charactersMax} aria-describedby="text-help">
        {text}
      </textarea>
      <div class="row">
        <p id="text-help" class="soft small">
          {isBusy
            ? "The run before it has not ended: your message waits for it, and answers no question."
            : `At most ${charactersMax} characters.`}
        </p>
        <div class="row">
          {apps === undefined || apps.length < 2 ? (
            <input type="hidden" name="app" value={apps?.[0]?.name ?? ""} />
          ) : (
            <>
              <label for="app">Agent</label>
              <select id="app" name="app">
                {apps.map(({ name }) => (
                  <option value={name}>{name}</option>
                ))}
              </select>
            </>
          )}
          <button class="primary" type="submit">
            Send
          </button>
        </div>
      </div>
    </form>
  );
}
