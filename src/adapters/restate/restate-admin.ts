import { BelayError } from "../../errors.ts";
import type { RestateSettings } from "./restate-options.ts";

/**
 * Tells Restate where the workers are and what they serve.
 *
 * Always by force: a delivery keeps nothing in Restate that a newer worker could not go on from, so every revision may
 * stand at the one address. Throws `BELAY_WAKER_FAILED` when Restate does not answer or cannot reach the address.
 */
export async function registerDeployment(settings: RestateSettings): Promise<void> {
  const { adminUrl, deploymentUrl, headers, timeoutMs } = settings;
  let response: Response;
  try {
    response = await fetch(`${adminUrl}/deployments`, {
      method: "POST",
      headers: { ...headers, "content-type": "application/json" },
      body: JSON.stringify({ uri: deploymentUrl, force: true }),
      signal: AbortSignal.timeout(timeoutMs),
    });
    await response.text();
  } catch (cause) {
    throw new BelayError("BELAY_WAKER_FAILED", "Restate's admin API does not answer; check adminUrl and the server", {
      cause,
    });
  }
  if (!response.ok) {
    throw new BelayError(
      "BELAY_WAKER_FAILED",
      `Restate's admin API did not take this worker (status ${response.status}); ` +
        "check that Restate can reach deploymentUrl, and the API key",
    );
  }
}
