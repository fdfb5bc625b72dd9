import { argsHash, refusalToDecide } from "../approval/index.ts";
import { renderMessage } from "../context/index.ts";
import {
  accepts,
  answerHoldsUntil,
  callsInDoubt,
  canonicalize,
  EVENT_SCHEMA,
  effectsOf,
  fold,
  isCovered,
  limitBeforeModelCall,
  printable,
  transition,
  wallClockLimit,
  workedMs,
} from "../core/index.ts";
import { BelayError } from "../errors.ts";
import { costNanoUsd, estimatePromptTokens, highestCostNanoUsd } from "../model/index.ts";
import { decideCallSync } from "../policy/index.ts";
import { bounded, isThenable } from "./bounded.ts";
import { CAPACITY } from "./capacity.ts";
import { reserveBudgets, settleBudgets } from "./cost-budgets.ts";
import { NEVER } from "./drive-state.ts";
import { attemptOf, INDEFINITE, startCall, startWithinMs, toolContext } from "./execute-step.ts";
import { askRules, judgeNow, ruleCall, ruleContext, tamperedEvent, withGate } from "./judge.ts";
import { finishedBy, settlementOf, storedValue } from "./outcome.ts";
import { pauseOf } from "./pause.ts";
import { isAmount } from "./points.ts";
import { prepareCalls } from "./prepare.ts";
import { openSession } from "./session.ts";
import { ANONYMOUS, checkInput, prepareStart, startedEvent } from "./start.ts";
import { isThrottled } from "./throttled.ts";

/**
 * What modules that are loaded on demand use of the rest. They are handed it and import none of it themselves: a module
 * that both sides import would make a bundler cut the root entry into many pieces, which weigh more than one.
 */
export interface Kit {
  readonly core: {
    readonly accepts: typeof accepts;
    readonly answerHoldsUntil: typeof answerHoldsUntil;
    readonly callsInDoubt: typeof callsInDoubt;
    readonly canonicalize: typeof canonicalize;
    readonly EVENT_SCHEMA: typeof EVENT_SCHEMA;
    readonly effectsOf: typeof effectsOf;
    readonly fold: typeof fold;
    readonly isCovered: typeof isCovered;
    readonly limitBeforeModelCall: typeof limitBeforeModelCall;
    readonly transition: typeof transition;
    readonly wallClockLimit: typeof wallClockLimit;
    readonly workedMs: typeof workedMs;
  };
  readonly ANONYMOUS: typeof ANONYMOUS;
  readonly BelayError: typeof BelayError;
  readonly CAPACITY: typeof CAPACITY;
  readonly NEVER: typeof NEVER;
  readonly argsHash: typeof argsHash;
  readonly bounded: typeof bounded;
  readonly checkInput: typeof checkInput;
  readonly isThrottled: typeof isThrottled;
  readonly openSession: typeof openSession;
  readonly pauseOf: typeof pauseOf;
  readonly refusalToDecide: typeof refusalToDecide;
  readonly settleBudgets: typeof settleBudgets;
  readonly settlementOf: typeof settlementOf;
  readonly startCall: typeof startCall;
  readonly startWithinMs: typeof startWithinMs;
  readonly startedEvent: typeof startedEvent;
  readonly storedValue: typeof storedValue;
  readonly INDEFINITE: typeof INDEFINITE;
  readonly attemptOf: typeof attemptOf;
  readonly isThenable: typeof isThenable;
  readonly toolContext: typeof toolContext;
  readonly askRules: typeof askRules;
  readonly judgeNow: typeof judgeNow;
  readonly tamperedEvent: typeof tamperedEvent;
  readonly withGate: typeof withGate;
  readonly estimatePromptTokens: typeof estimatePromptTokens;
  readonly highestCostNanoUsd: typeof highestCostNanoUsd;
  readonly isAmount: typeof isAmount;
  readonly renderMessage: typeof renderMessage;
  readonly reserveBudgets: typeof reserveBudgets;
  readonly printable: typeof printable;
  readonly decideCallSync: typeof decideCallSync;
  readonly ruleCall: typeof ruleCall;
  readonly ruleContext: typeof ruleContext;
  readonly finishedBy: typeof finishedBy;
  readonly prepareCalls: typeof prepareCalls;
  readonly costNanoUsd: typeof costNanoUsd;
  readonly prepareStart: typeof prepareStart;
}

export const KIT: Kit = {
  core: {
    accepts,
    answerHoldsUntil,
    callsInDoubt,
    canonicalize,
    EVENT_SCHEMA,
    effectsOf,
    fold,
    isCovered,
    limitBeforeModelCall,
    transition,
    wallClockLimit,
    workedMs,
  },
  ANONYMOUS,
  BelayError,
  CAPACITY,
  NEVER,
  argsHash,
  bounded,
  checkInput,
  isThrottled,
  openSession,
  pauseOf,
  refusalToDecide,
  settleBudgets,
  settlementOf,
  startCall,
  startWithinMs,
  startedEvent,
  storedValue,
  INDEFINITE,
  attemptOf,
  isThenable,
  toolContext,
  askRules,
  judgeNow,
  tamperedEvent,
  withGate,
  estimatePromptTokens,
  highestCostNanoUsd,
  isAmount,
  renderMessage,
  reserveBudgets,
  printable,
  decideCallSync,
  ruleCall,
  ruleContext,
  finishedBy,
  prepareCalls,
  costNanoUsd,
  prepareStart,
};
