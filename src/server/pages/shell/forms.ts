import type { Context } from "hono";
import { type PageKit, PageRefusal } from "./kit.ts";

/** Text fields of a form that was sent from one of our own pages. */
export type FormFields = (name: string) => string;

/** Reads a form and checks where it came from; throws the refusal that the reader is shown. */
export async function readForm({ session }: PageKit, c: Context): Promise<FormFields> {
  const body = await c.req.parseBody();
  const field = (name: string): string => {
    const value = body[name];
    return typeof value === "string" ? value : "";
  };
  const token = field(session.csrfField);
  if (!(await session.checkForm(c, token === "" ? undefined : token))) {
    throw new PageRefusal({
      status: 403,
      code: "form_not_ours",
      detail: "This form was not sent from this console, or the page was too old. Open the page again and retry.",
    });
  }
  return field;
}
