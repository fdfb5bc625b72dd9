import type { PermissionLevel, Principal } from "../core/index.ts";
import { allow, ask, deny, type Rule } from "../policy/index.ts";
import { isWithin } from "./action.ts";

/**
 * The rule that stands behind an application's own: a person decides what cannot be undone, and nobody goes above the
 * level that they have.
 *
 * `ceilingOf` gives the highest level an actor may use; whatever it gives that is no level lets nothing through.
 */
export function levelRule(ceilingOf: ((actor: Principal) => PermissionLevel) | undefined): Rule {
  return {
    id: "belay.level",
    decide({ tool, level }, { principal }) {
      const ceiling = ceilingOf?.(principal) ?? (ceilingOf === undefined ? "irreversible" : undefined);
      if (ceiling === undefined || !isWithin(level, ceiling)) {
        return deny("LEVEL_NOT_PERMITTED", `${principal.kind} ${principal.id} may not use ${tool} of level ${level}`);
      }
      return level === "irreversible"
        ? ask("IRREVERSIBLE", `${tool} cannot be undone, so a person decides`)
        : allow("OK", `a registered action of level ${level}`);
    },
  };
}
