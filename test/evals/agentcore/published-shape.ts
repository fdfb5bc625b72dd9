/** One shape of a service model as the SDK packages carry it at run time. */
export type PublishedShape = readonly unknown[];

const LIST = 1;
const STRUCTURE = 3;
const UNION = 4;
const OF_LIST = 64;
const DOCUMENT = 15;

/**
 * A sentence for each way in which a value is not of a published shape: an unknown or missing member, another kind, more
 * than one branch of a union. Simple values are only known by their kind; patterns and lengths are not published.
 */
export function problemsOf(shape: unknown, value: unknown, path = ""): readonly string[] {
  const target = resolved(shape);
  if (typeof target === "number") {
    return simpleProblems(target, value, path);
  }
  const [kind] = target;
  if (kind === LIST) {
    return Array.isArray(value)
      ? value.flatMap((each, at) => problemsOf(target[4], each, `${path}[${at}]`))
      : [`${path} is no list`];
  }
  if (kind === STRUCTURE || kind === UNION) {
    return memberProblems(target, value, path);
  }
  return simpleProblems(0, value, path);
}

/** Names of the members of a structure or union, and those that must be there. */
export function membersOf(shape: unknown): { readonly names: readonly string[]; readonly required: readonly string[] } {
  const target = resolved(shape);
  if (typeof target === "number" || (target[0] !== STRUCTURE && target[0] !== UNION)) {
    return { names: [], required: [] };
  }
  const names = target[4] as readonly string[];
  const required = target[0] === STRUCTURE ? ((target[6] as number | undefined) ?? 0) : 0;
  return { names, required: names.slice(0, required) };
}

/** The shape of one member. */
export function memberOf(shape: unknown, name: string): unknown {
  const target = resolved(shape);
  const at = membersOf(shape).names.indexOf(name);
  return typeof target === "number" || at === -1 ? undefined : (target[5] as readonly unknown[])[at];
}

/** What a list holds, where the shape is one. */
export function itemOf(shape: unknown): unknown {
  const target = resolved(shape);
  if (typeof target === "number") {
    return target & OF_LIST ? target & ~OF_LIST : undefined;
  }
  return target[0] === LIST ? target[4] : undefined;
}

function memberProblems(shape: PublishedShape, value: unknown, path: string): readonly string[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return [`${path} is no object`];
  }
  const { names, required } = membersOf(shape);
  const given = Object.keys(value);
  const isUnion = shape[0] === UNION;
  return [
    ...given.filter((name) => !names.includes(name)).map((name) => `${path}.${name} is not known`),
    ...required.filter((name) => !given.includes(name)).map((name) => `${path}.${name} is missing`),
    ...(isUnion && given.length !== 1 ? [`${path} has ${given.length} branches`] : []),
    ...Object.entries(value)
      .filter(([name]) => names.includes(name))
      .flatMap(([name, each]) => problemsOf(memberOf(shape, name), each, `${path}.${name}`)),
  ];
}

function simpleProblems(kind: number, value: unknown, path: string): readonly string[] {
  if (kind & OF_LIST) {
    return Array.isArray(value)
      ? value.flatMap((each, at) => simpleProblems(kind & ~OF_LIST, each, `${path}[${at}]`))
      : [`${path} is no list`];
  }
  return kind === DOCUMENT || kind !== 0 || typeof value === "string" ? [] : [`${path} is no text`];
}

/** A shape stands for itself, behind a function, or as `[shape, traits]`. */
function resolved(shape: unknown): PublishedShape | number {
  if (typeof shape === "function") {
    return resolved(shape());
  }
  if (typeof shape === "number") {
    return shape;
  }
  if (Array.isArray(shape)) {
    return shape.length === 2 || typeof shape[0] !== "number" ? resolved(shape[0]) : shape;
  }
  throw new Error("the SDK carries its shapes in another form now");
}
