import type { Html } from "../html.ts";

const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Largest time that a Date holds. */
const TIME_MAX = 8.64e15;

/** A moment in UTC. The browser's own zone stays out of it: two people must read the same time. */
export function Time(props: { readonly at: number }): Html {
  if (!isTime(props.at)) {
    return <span>never</span>;
  }
  const iso = new Date(props.at).toISOString();
  return (
    <time class="number" datetime={iso}>
      {iso.slice(0, 10)} {iso.slice(11, 19)} UTC
    </time>
  );
}

/** Hours, minutes and seconds of a moment whose day is clear. */
export function ClockTime(props: { readonly at: number }): Html {
  if (!isTime(props.at)) {
    return <span>never</span>;
  }
  const iso = new Date(props.at).toISOString();
  return (
    <time class="number" datetime={iso} title={iso}>
      {iso.slice(11, 19)}
    </time>
  );
}

/** How long ago something was; kept up to date where scripts run. */
export function Age(props: { readonly at: number; readonly now: number }): Html {
  const { at, now } = props;
  return (
    <span class="number" data-since={at} data-now={now}>
      {durationText(now - at)}
    </span>
  );
}

/** How long an answer can still be given; counts down where scripts run. */
export function Countdown(props: { readonly until: number; readonly now: number }): Html {
  const { until, now } = props;
  if (!isTime(until)) {
    return <span>never</span>;
  }
  const left = until - now;
  if (left <= 0) {
    return <span class="number tone-bad">expired</span>;
  }
  return (
    <span class={left < HOUR_MS ? "number tone-wait" : "number"} data-until={until} data-now={now}>
      {durationText(left)}
    </span>
  );
}

/** `45 s`, `12 min 5 s`, `3 h 20 min`, `2 d 4 h`: the two largest units. */
export function durationText(ms: number): string {
  const positive = Math.max(0, ms);
  if (positive < SECOND_MS) {
    return `${Math.round(positive)} ms`;
  }
  if (positive < MINUTE_MS) {
    return `${Math.floor(positive / SECOND_MS)} s`;
  }
  if (positive < HOUR_MS) {
    return unitsText(positive, MINUTE_MS, "min", SECOND_MS, "s");
  }
  if (positive < DAY_MS) {
    return unitsText(positive, HOUR_MS, "h", MINUTE_MS, "min");
  }
  return unitsText(positive, DAY_MS, "d", HOUR_MS, "h");
}

function unitsText(ms: number, unitMs: number, unit: string, smallMs: number, small: string): string {
  const rest = Math.floor((ms % unitMs) / smallMs);
  return `${Math.floor(ms / unitMs)} ${unit}${rest === 0 ? "" : ` ${rest} ${small}`}`;
}

/** `2026-01-15`, the day in UTC. */
export function dayOf(at: number): string {
  return isTime(at) ? new Date(at).toISOString().slice(0, 10) : "never";
}

function isTime(at: number): boolean {
  return Number.isFinite(at) && Math.abs(at) < TIME_MAX;
}
