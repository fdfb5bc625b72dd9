import type { PeopleStore, StoredRole } from "../server/index.ts";
import {
  CONFIG_OPTIONS,
  type Command,
  type CommandInput,
  hasFlag,
  JSON_OPTION,
  PLACE_OPTIONS,
  textOption,
} from "./command.ts";
import { type Place, placeOf } from "./place.ts";
import { projectConfig } from "./project.ts";
import { loadServer, openPeople } from "./server-place.ts";
import { choice, usageError } from "./usage.ts";

const ROLES: readonly StoredRole[] = ["viewer", "operator", "approver", "admin", "agent"];
const DEFAULT_TENANT = "default";
const ORIGIN_DEFAULT = "http://127.0.0.1:4180";

const ORIGIN_OPTION = {
  origin: { type: "string", value: "url", help: `address of the server in the link (default ${ORIGIN_DEFAULT})` },
} as const;
const PERSON = [{ name: "person" }] as const;

export const peopleAddCommand: Command = {
  name: "people add",
  summary: "add a person to the server, or change their name and roles; prints a sign-in link",
  positionals: PERSON,
  options: {
    name: { type: "string", value: "text", help: "name as others see it (default the id)" },
    roles: { type: "string", value: "a,b", help: `of ${ROLES.join(", ")}; agent is a program, which never decides` },
    ...ORIGIN_OPTION,
    ...JSON_OPTION,
    ...PLACE_OPTIONS,
  },
  examples: ['people add dana --name "Dana Ruiz" --roles approver', "people add nightly --roles agent"],
  run: (input) =>
    withPeople(input, (people, { tenant }) => {
      const [id = ""] = input.positionals;
      const given = textOption(input, "roles");
      if (given === undefined) throw usageError(`A person needs --roles, such as --roles approver.`);
      const roles = given.split(",").map((role) => choice("roles", role.trim(), ROLES));
      people.add({ id, name: textOption(input, "name") ?? id, roles, tenant });
      return roles.includes("agent") ? printToken(input, people, tenant, id) : printLink(input, people, tenant, id);
    }),
};

export const peopleListCommand: Command = {
  name: "people list",
  summary: "list the people of the server and their roles",
  positionals: [],
  options: { ...JSON_OPTION, ...PLACE_OPTIONS },
  examples: ["people list", "people list --json"],
  run: (input) =>
    withPeople(input, (people, { tenant }) => {
      const found = people.list(tenant);
      if (hasFlag(input, "json")) {
        input.output.json(found, 2);
      } else {
        for (const { id, name, roles, isRevoked } of found) {
          input.output.line(`${id}  ${name}  ${roles.join(", ")}${isRevoked ? "  revoked" : ""}`);
        }
        if (found.length === 0) input.output.progress("Nobody yet. Add somebody with belay people add.");
      }
      return 0;
    }),
};

export const peopleLinkCommand: Command = {
  name: "people link",
  summary: "print a new sign-in link of a person; it works once, for 15 minutes",
  positionals: PERSON,
  options: { ...ORIGIN_OPTION, ...JSON_OPTION, ...PLACE_OPTIONS, ...CONFIG_OPTIONS },
  examples: ["people link dana", "people link dana --origin https://belay.example.com"],
  run: (input) =>
    withPeople(input, async (people, { tenant }) => {
      const [id = ""] = input.positionals;
      return printLink(input, people, tenant, id);
    }),
};

export const peopleTokenCommand: Command = {
  name: "people token",
  summary: "print a new token of a person for the API; it works for 90 days",
  positionals: PERSON,
  options: { ...JSON_OPTION, ...PLACE_OPTIONS },
  examples: ["people token nightly"],
  run: (input) =>
    withPeople(input, (people, { tenant }) => {
      const [id = ""] = input.positionals;
      return printToken(input, people, tenant, id);
    }),
};

export const peopleRevokeCommand: Command = {
  name: "people revoke",
  summary: "take a person's access away at once: sessions, links and tokens",
  positionals: PERSON,
  options: { ...PLACE_OPTIONS },
  examples: ["people revoke dana"],
  run: (input) =>
    withPeople(input, (people, { tenant }) => {
      const [id = ""] = input.positionals;
      people.revoke(tenant, id);
      input.output.progress(`${id} has no access any more.`);
      return 0;
    }),
};

/** Works with the people of the project; those of a configuration beside it are among them. */
async function withPeople(
  input: CommandInput,
  work: (people: PeopleStore, place: Place) => number | Promise<number>,
): Promise<number> {
  const place = placeOf(input);
  const { database, people } = openPeople(await loadServer(), place);
  try {
    // Looking at another tenant must not let the people of the configuration into it.
    const config = place.tenant === DEFAULT_TENANT ? await projectConfig(input).catch(() => undefined) : undefined;
    if (config?.people !== undefined) people.takeConfigured(config.people, place.tenant);
    return await work(people, place);
  } finally {
    database.close();
  }
}

function printLink(input: CommandInput, people: PeopleStore, tenant: string, id: string): 0 {
  const origin = textOption(input, "origin") ?? ORIGIN_DEFAULT;
  const link = `${origin.replace(/\/+$/, "")}/sign-in?token=${people.issue("link", tenant, id)}`;
  if (hasFlag(input, "json")) input.output.json({ id, link }, 2);
  else input.output.line(link);
  return 0;
}

function printToken(input: CommandInput, people: PeopleStore, tenant: string, id: string): 0 {
  const token = people.issue("token", tenant, id);
  if (hasFlag(input, "json")) input.output.json({ id, token }, 2);
  else input.output.line(token);
  input.output.progress("It is shown this once. Keep it where only the program can read it.");
  return 0;
}
