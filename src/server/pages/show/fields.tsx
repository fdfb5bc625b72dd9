import type { JsonValue } from "../../../core/index.ts";
import type { Html } from "../html.ts";
import { Foreign, Payload } from "./foreign.tsx";
import { amountText, fieldsOf, labelOf } from "./headline.ts";

const SMALL_FIELDS_MAX = 16;

/** A JSON object as a list of names and values, each value exact. */
export function Fields(props: { readonly value: JsonValue; readonly charactersMax?: number }): Html {
  const { value, charactersMax = 240 } = props;
  const fields = fieldsOf(value);
  if (fields.length === 0) {
    return <p class="soft">No fields.</p>;
  }
  return (
    <dl class="fields">
      {fields.map(([name, field]) => (
        <div>
          <dt>
            <Foreign text={name === "" ? "value" : name} charactersMax={64} linesMax={1} />
          </dt>
          <dd>
            <FieldValue name={name} value={field} charactersMax={charactersMax} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

function FieldValue(props: { readonly name: string; readonly value: JsonValue; readonly charactersMax: number }): Html {
  const { name, value, charactersMax } = props;
  if (typeof value === "string") {
    return value === "" ? (
      <span class="soft">empty text</span>
    ) : (
      <Foreign text={value} charactersMax={charactersMax} linesMax={6} />
    );
  }
  if (typeof value === "number") {
    const { text, exact } = amountText(name, value);
    return (
      <span class="number">
        {String(value)}
        {exact === undefined ? "" : <span class="soft"> = {text}</span>}
      </span>
    );
  }
  if (isSmallObject(value)) {
    return <Fields value={value} charactersMax={charactersMax} />;
  }
  if (typeof value === "object" && value !== null) {
    return <Payload value={value} charactersMax={charactersMax * 4} />;
  }
  return <span class="number">{String(value)}</span>;
}

/** An object that reads better as a list; whatever is deeper or longer is shown as JSON. */
function isSmallObject(value: JsonValue): boolean {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.keys(value).length <= SMALL_FIELDS_MAX &&
    Object.values(value).every((field) => typeof field !== "object" || field === null)
  );
}

/** Two looks at the same facts, side by side; what differs is marked. */
export function FieldChanges(props: { readonly before: JsonValue; readonly after: JsonValue }): Html {
  const before = new Map(flatten(props.before));
  const after = new Map(flatten(props.after));
  const names = [...new Set([...before.keys(), ...after.keys()])];
  return (
    <table class="table">
      <thead>
        <tr>
          <th scope="col">Fact</th>
          <th scope="col">When it was asked</th>
          <th scope="col">At the decision</th>
        </tr>
      </thead>
      <tbody>
        {names.map((name) => {
          const [was, is] = [before.get(name) ?? "not read", after.get(name) ?? "not read"];
          return (
            <tr class={was === is ? "" : "changed"}>
              <th scope="row" data-label="Fact">
                <Foreign text={labelOf(name)} charactersMax={64} linesMax={1} />
              </th>
              <td data-label="When it was asked">
                <Foreign text={was} charactersMax={120} linesMax={2} />
              </td>
              <td data-label="At the decision">
                <Foreign text={is} charactersMax={120} linesMax={2} />
                {was === is ? "" : <strong class="tone-bad">changed</strong>}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

function flatten(value: JsonValue, path: string = ""): readonly (readonly [string, string])[] {
  if (typeof value !== "object" || value === null) {
    return [[path === "" ? "value" : path, typeof value === "string" ? value : JSON.stringify(value)]];
  }
  return Object.entries(value).flatMap(([name, field]) => flatten(field, path === "" ? name : `${path}.${name}`));
}
