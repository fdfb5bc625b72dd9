import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "@hono/zod-openapi";
import { type AuditEntry, decodeFrontier, rootOf, signCheckpoint } from "../../audit/index.ts";
import { BelayError } from "../../errors.ts";
import { createProofTree } from "../audit/proof-tree.ts";
import type { ServerEnv } from "../http/env.ts";
import { HttpProblem } from "../http/problem.ts";
import { checkMay } from "../operations/permission.ts";
import { type RouteContext, signedInOf } from "./context.ts";
import { addRoute } from "./define-route.ts";
import { responses } from "./responses.ts";
import * as schema from "./schemas.ts";

const ORIGIN = "belay/audit";
const place = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER);

/** The audit log as far as it concerns the tenant of whoever asks; heads and proofs hold hashes alone. */
export function addAuditRoutes(app: OpenAPIHono<ServerEnv>, context: RouteContext): void {
  const tree = createProofTree(context.store.audit);
  addRoute(app, {
    method: "get",
    path: "/v1/audit/checkpoint",
    summary: "What the log holds now: size and root, signed when the server has a key",
    responses: responses({ 200: { description: "The tree head", schema: schema.checkpointSchema } }),
    handle: async (c) => {
      checkMay(signedInOf(c), "read");
      const frontier = decodeFrontier(await context.store.audit.frontier());
      const { signer } = context;
      const head = { origin: signer === undefined ? ORIGIN : signer.name, size: frontier.size, root: rootOf(frontier) };
      const signed =
        signer === undefined ? {} : { note: signCheckpoint(head, signer), verifierKey: signer.verifierKey };
      return c.json({ ...head, ...signed });
    },
  });

  addRoute(app, {
    method: "get",
    path: "/v1/audit/{seq}",
    summary: "One record",
    params: { seq: place },
    responses: responses({ 200: { description: "The record as stored", schema: schema.auditRecordSchema } }, [404]),
    handle: async (c, { params }) => {
      const by = signedInOf(c);
      checkMay(by, "read");
      const { entry, record } = await ownRecord(context, by.tenant, params.seq);
      return c.json({ seq: entry.seq, text: entry.text, leaf: entry.leaf, record });
    },
  });

  addRoute(app, {
    method: "get",
    path: "/v1/audit/{seq}/proof",
    summary: "Proof that the record is in the log of a size",
    params: { seq: place },
    query: { size: place.optional().openapi({ description: "size of a checkpoint; default all" }) },
    responses: responses({ 200: { description: "RFC 6962 inclusion proof", schema: schema.proofSchema } }, [404]),
    handle: async (c, { params, query }) => {
      const by = signedInOf(c);
      checkMay(by, "read");
      const { entry } = await ownRecord(context, by.tenant, params.seq);
      const whole = await context.store.audit.size();
      const size = query.size ?? whole;
      if (size > whole || entry.seq >= size) {
        throw new HttpProblem("BELAY_REQUEST_INVALID", `size must be from ${entry.seq + 1} to ${whole}`, {
          members: { errors: [{ in: "query", path: "size", message: "outside the log" }] },
        });
      }
      const { root, proof } = await tree.prove(entry.seq, size);
      return c.json({ index: entry.seq, size, leaf: entry.leaf, root, proof });
    },
  });
}

/** A record of this tenant. That another tenant has one at a place is not told. */
async function ownRecord(
  { store }: RouteContext,
  tenant: string,
  seq: number,
): Promise<{ readonly entry: AuditEntry; readonly record: unknown }> {
  const [entry] = await store.audit.entries(seq, 1);
  const record = entry?.seq === seq ? parsed(entry.text) : undefined;
  const owner = typeof record === "object" && record !== null && "tenant" in record ? record.tenant : undefined;
  if (entry === undefined || owner !== tenant) {
    throw new BelayError("BELAY_AUDIT_RECORD_UNKNOWN", `there is no record ${seq} of this tenant in the log`);
  }
  return { entry, record };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
