import { BelayError } from "../errors.ts";

/** One line of what the doctor found. */
export interface Check {
  readonly name: string;
  readonly status: "ok" | "warn" | "fail";
  readonly detail: string;
}

export function ok(name: string, detail: string): Check {
  return { name, status: "ok", detail };
}

export function warn(name: string, detail: string): Check {
  return { name, status: "warn", detail };
}

export function fail(name: string, detail: string): Check {
  return { name, status: "fail", detail };
}

/** A check that throws an error of ours has failed, with its message; anything else is thrown on. */
export async function attempt(name: string, check: () => Check | Promise<Check>): Promise<Check> {
  try {
    return await check();
  } catch (error) {
    if (error instanceof BelayError) {
      return fail(name, `${error.message} (${error.code})`);
    }
    throw error;
  }
}
