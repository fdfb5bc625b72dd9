import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { MemorySaver } from "@langchain/langgraph";

/** LangGraph's own saver over a file, so that a process can be killed and another one goes on. */
export class FileSaver extends MemorySaver {
  readonly path: string;
  constructor(path: string) {
    super();
    this.path = path;
    if (!existsSync(path)) return;
    const kept = JSON.parse(readFileSync(path, "utf8"), revive) as Pick<MemorySaver, "storage" | "writes">;
    this.storage = kept.storage;
    this.writes = kept.writes;
  }
  override async put(...args: Parameters<MemorySaver["put"]>) {
    const result = await super.put(...args);
    this.keep();
    return result;
  }
  override async putWrites(...args: Parameters<MemorySaver["putWrites"]>) {
    await super.putWrites(...args);
    this.keep();
  }
  private keep() {
    const { storage, writes } = this;
    writeFileSync(`${this.path}.new`, JSON.stringify({ storage, writes }, replace));
    renameSync(`${this.path}.new`, this.path);
  }
}

function replace(_key: string, value: unknown): unknown {
  return value instanceof Uint8Array ? { base64: Buffer.from(value).toString("base64") } : value;
}

function revive(_key: string, value: unknown): unknown {
  const isBytes = typeof value === "object" && value !== null && "base64" in value && typeof value.base64 === "string";
  return isBytes ? new Uint8Array(Buffer.from(value.base64 as string, "base64")) : value;
}
