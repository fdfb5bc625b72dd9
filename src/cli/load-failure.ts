import { BelayError } from "../errors.ts";

/** Explains why Node could not load a file; `what` names it, such as `The configuration /srv/belay.config.ts`. */
export function explainLoadFailure(
  error: unknown,
  what: string,
  canLoadTypeScript: boolean = Boolean(process.features.typescript),
): BelayError {
  if (error instanceof BelayError) {
    return error;
  }
  const { code, message, name } = partsOf(error);
  switch (code) {
    case "ERR_MODULE_NOT_FOUND":
      return missingModule(message, what, error);
    case "ERR_PACKAGE_PATH_NOT_EXPORTED":
    case "ERR_UNSUPPORTED_DIR_IMPORT":
      return new BelayError("BELAY_CONFIG_IMPORT", `${what} imports what is not there: ${message}.`, { cause: error });
    case "ERR_UNKNOWN_FILE_EXTENSION":
      return canLoadTypeScript ? unknownExtension(message, what, error) : nodeTooOld(what, error);
    case "ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX":
      return new BelayError(
        "BELAY_CONFIG_SYNTAX",
        `${what} uses TypeScript that Node cannot strip (${message}). Replace enums by constant objects, and ` +
          "namespaces and parameter properties by plain code.",
        { cause: error },
      );
    default:
      return name === "SyntaxError" ? syntaxError(message, what, error) : threw(name, what, error);
  }
}

function partsOf(error: unknown): { code: string; message: string; name: string } {
  if (!(error instanceof Error)) {
    return { code: "", message: "", name: typeof error };
  }
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return { code, message: error.message, name: error.name };
}

function missingModule(message: string, what: string, cause: unknown): BelayError {
  const [, packageName] = /^Cannot find package '([^']+)'/.exec(message) ?? [];
  if (packageName !== undefined) {
    return new BelayError(
      "BELAY_CONFIG_PEER_MISSING",
      `${what} needs the package ${packageName}, which is not installed. Run: npm install ${packageName}`,
      { cause },
    );
  }
  const [, file = "a file"] = /^Cannot find module '([^']+)'/.exec(message) ?? [];
  return new BelayError(
    "BELAY_CONFIG_IMPORT",
    `${what} imports ${file}, which does not exist. Write imports with their whole name, extension included (./app.ts).`,
    { cause },
  );
}

function nodeTooOld(what: string, cause: unknown): BelayError {
  return new BelayError(
    "BELAY_CONFIG_NODE_OLD",
    `${what} is TypeScript, which Node ${process.versions.node} does not load. Use Node 24.15 or newer, or 22.22.3.`,
    { cause },
  );
}

function unknownExtension(message: string, what: string, cause: unknown): BelayError {
  const [, extension = "this kind of file"] = /extension "([^"]+)"/.exec(message) ?? [];
  return new BelayError(
    "BELAY_CONFIG_IMPORT",
    `${what} imports a file that Node cannot load (${extension}). Import .ts, .mts, .js or .mjs files.`,
    { cause },
  );
}

function syntaxError(message: string, what: string, cause: unknown): BelayError {
  if (/outside a module|^Unexpected token 'export'/.test(message)) {
    return new BelayError(
      "BELAY_CONFIG_COMMONJS",
      `${what} is read as CommonJS. Name it belay.config.mts, or set "type": "module" in the package.json beside it.`,
      { cause },
    );
  }
  if (/does not provide an export named/.test(message)) {
    return new BelayError("BELAY_CONFIG_IMPORT", `${what} imports what is not there: ${message}.`, { cause });
  }
  return new BelayError("BELAY_CONFIG_SYNTAX", `${what} is not valid TypeScript: ${message}. Correct it.`, { cause });
}

/** The text of what a configuration threw is left out: it may hold a key that the configuration reads. */
function threw(name: string, what: string, cause: unknown): BelayError {
  return new BelayError(
    "BELAY_CONFIG_INVALID",
    `${what} threw ${name} while it was loaded. Run the command with BELAY_DEBUG=1 to see it.`,
    { cause },
  );
}
