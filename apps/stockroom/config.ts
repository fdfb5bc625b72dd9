import { BelayError } from "belay-harness";
import { checkWeaknesses, readWeaknesses, type Weakness } from "./weaknesses.ts";

/** Settings of the app, with the names and defaults of its source, "Building a Custom Agent Harness". */
export interface StockroomSettings {
  readonly mode: "mock" | "live";
  readonly region: string;
  readonly tools: "local" | "mcp-stdio" | "mcp-http";
  readonly tracing: "memory" | "console" | "phoenix" | "cloudwatch" | "none";
  readonly weaknesses: readonly Weakness[];
  /** Model calls of a run. */
  readonly maxSteps: number;
  /** Estimated tokens of a run, replies included. */
  readonly tokenBudget: number;
  /** Longest reply of the model, in tokens. */
  readonly maxTokens: number;
  readonly repeatCallWindow: number;
  readonly wallClockTimeoutS: number;
  readonly compactionTokenThreshold: number;
  readonly compactionKeepTurns: number;
  /** Folder of the policy documents; empty for the app's own. */
  readonly dataDir: string;
  /** Must be set for live mode, which costs money. */
  readonly confirmAwsSpend: boolean;
}

export interface StockroomConfig extends StockroomSettings {
  /** A changed copy, checked like the first one. */
  replace(change: Partial<StockroomSettings>): StockroomConfig;
}

type Environment = Readonly<Record<string, string | undefined>>;

const DEFAULTS: StockroomSettings = {
  mode: "mock",
  region: "us-east-1",
  tools: "local",
  tracing: "memory",
  weaknesses: [],
  maxSteps: 8,
  tokenBudget: 20_000,
  maxTokens: 1024,
  repeatCallWindow: 3,
  wallClockTimeoutS: 60,
  compactionTokenThreshold: 6000,
  compactionKeepTurns: 4,
  dataDir: "",
  confirmAwsSpend: false,
};

const CHOICES = {
  mode: ["mock", "live"],
  tools: ["local", "mcp-stdio", "mcp-http"],
  tracing: ["memory", "console", "phoenix", "cloudwatch", "none"],
} as const;

const COUNTS = [
  "maxSteps",
  "tokenBudget",
  "maxTokens",
  "repeatCallWindow",
  "compactionTokenThreshold",
  "compactionKeepTurns",
] as const;

/** Environment variables of the app that have a number, and the setting that they set. */
const NUMBERS_BY_NAME = {
  MAX_STEPS: "maxSteps",
  TOKEN_BUDGET: "tokenBudget",
  MAX_TOKENS: "maxTokens",
  REPEAT_CALL_WINDOW: "repeatCallWindow",
  WALL_CLOCK_TIMEOUT_S: "wallClockTimeoutS",
  COMPACTION_TOKEN_THRESHOLD: "compactionTokenThreshold",
  COMPACTION_KEEP_TURNS: "compactionKeepTurns",
} as const;

const TEXTS_BY_NAME = {
  STOCKROOM_MODE: "mode",
  STOCKROOM_TOOLS: "tools",
  STOCKROOM_TRACING: "tracing",
  STOCKROOM_DATA_DIR: "dataDir",
  AWS_REGION: "region",
} as const;

/**
 * Makes a configuration: defaults, then the environment, then `change`.
 *
 * Throws `BELAY_CONFIG_INVALID` for a value that cannot be, and `BELAY_WEAKNESS_UNKNOWN`.
 */
export function stockroomConfig(
  change: Partial<StockroomSettings> = {},
  environment: Environment = {},
): StockroomConfig {
  return configOf({ ...DEFAULTS, ...readEnvironment(environment), ...change });
}

/** The two lines with which the app says how it runs. */
export function bannerLines(config: StockroomSettings): readonly [string, string] {
  const { mode, region, tools, tracing, maxSteps, tokenBudget } = config;
  const [agent, judge] = mode === "mock" ? ["FakeBedrockClient", "FakeJudge"] : ["BedrockClient", "BedrockJudge"];
  const weaknesses = config.weaknesses.join(",") || "none";
  return [
    `[stockroom] running in ${mode.toUpperCase()} mode (STOCKROOM_MODE=${mode})`,
    `[stockroom] mode=${mode} agent=${agent} judge=${judge} region=${region} tools=${tools} tracing=${tracing} ` +
      `weaknesses=${weaknesses} max_steps=${maxSteps} token_budget=${tokenBudget}`,
  ];
}

function configOf(settings: StockroomSettings): StockroomConfig {
  const checked = { ...settings, weaknesses: checkWeaknesses(settings.weaknesses) };
  const problem = problemOf(checked);
  if (problem !== undefined) {
    throw new BelayError("BELAY_CONFIG_INVALID", `the stockroom cannot be configured like this: ${problem}`);
  }
  return { ...checked, replace: (change) => configOf({ ...checked, ...change }) };
}

function problemOf(settings: StockroomSettings): string | undefined {
  for (const [name, values] of Object.entries(CHOICES)) {
    const value = String(settings[name as keyof typeof CHOICES]);
    if (!values.some((known) => known === value)) {
      return `${name} is ${JSON.stringify(value)}; use one of ${values.join(", ")}`;
    }
  }
  const badCount = COUNTS.find((name) => !Number.isSafeInteger(settings[name]) || settings[name] < 1);
  if (badCount !== undefined) {
    return `${badCount} is ${settings[badCount]}; use a whole number from 1`;
  }
  if (!(settings.wallClockTimeoutS > 0 && Number.isFinite(settings.wallClockTimeoutS))) {
    return `wallClockTimeoutS is ${settings.wallClockTimeoutS}; use a number of seconds above 0`;
  }
  const { tokenBudget, maxTokens } = settings;
  return tokenBudget > maxTokens
    ? undefined
    : `TOKEN_BUDGET ${tokenBudget} must be larger than MAX_TOKENS ${maxTokens}, or no model call would ever fit`;
}

function readEnvironment(environment: Environment): Partial<StockroomSettings> {
  const numbers = Object.entries(NUMBERS_BY_NAME).flatMap(([name, setting]) => {
    const text = environment[name]?.trim();
    return text ? [[setting, numberOf(name, text)]] : [];
  });
  const texts = Object.entries(TEXTS_BY_NAME).flatMap(([name, setting]) => {
    const text = environment[name]?.trim();
    return text ? [[setting, text]] : [];
  });
  const { STOCKROOM_WEAKNESSES: weaknesses, STOCKROOM_CONFIRM_AWS_SPEND: confirmed } = environment;
  return {
    ...Object.fromEntries([...numbers, ...texts]),
    ...(weaknesses === undefined ? {} : { weaknesses: readWeaknesses(weaknesses) }),
    ...(confirmed === undefined ? {} : { confirmAwsSpend: /^(1|true|yes)$/i.test(confirmed) }),
  };
}

function numberOf(name: string, text: string): number {
  const value = Number(text);
  if (Number.isNaN(value)) {
    throw new BelayError("BELAY_CONFIG_INVALID", `${name} is ${JSON.stringify(text.slice(0, 40))}; use a number`);
  }
  return value;
}
