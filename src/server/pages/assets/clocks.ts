import { type Browser, scriptOf } from "./browser.ts";

/** Keeps ages and countdowns up to date. The server's clock counts; the browser's only says how much time has gone by. */
function clocks(browser: Browser): void {
  const { document } = browser;
  const offsets = new WeakMap<object, number>();
  const update = (): void => {
    for (const element of document.querySelectorAll("[data-now]")) {
      const offset = offsets.get(element) ?? Number(element.getAttribute("data-now")) - browser.Date.now();
      offsets.set(element, offset);
      const now = browser.Date.now() + offset;
      const [since, until] = [element.getAttribute("data-since"), element.getAttribute("data-until")];
      const left = until === null ? undefined : Number(until) - now;
      const text = left !== undefined && left <= 0 ? "expired" : clockText(left ?? now - Number(since));
      if (element.textContent !== text) {
        element.textContent = text;
      }
    }
  };
  update();
  browser.setInterval(update, 1000);
}

/** The same words as the server's, since the two must not take turns on a page. */
function clockText(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const [minutes, hours, days] = [Math.floor(seconds / 60), Math.floor(seconds / 3600), Math.floor(seconds / 86400)];
  const units = (large: number, unit: string, rest: number, small: string): string =>
    `${large} ${unit}${rest === 0 ? "" : ` ${rest} ${small}`}`;
  if (minutes === 0) {
    return `${seconds} s`;
  }
  if (hours === 0) {
    return units(minutes, "min", seconds % 60, "s");
  }
  return days === 0 ? units(hours, "h", minutes % 60, "min") : units(days, "d", hours % 24, "h");
}

export const CLOCKS_SCRIPT: string = scriptOf(clocks, [clockText]);
