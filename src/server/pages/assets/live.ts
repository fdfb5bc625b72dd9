import { type Browser, type BrowserElement, scriptOf } from "./browser.ts";

/**
 * Keeps the live regions of a page up to date.
 *
 * A region names the run whose events it follows (`data-live`) or how often to look (`data-poll-s`). The stream only
 * says that something has happened; what is shown always comes from the server as a page, so that nothing is built
 * from foreign text here and a reload shows the same. Pieces of a reply that is being written are shown as plain text.
 */
function live(browser: Browser): void {
  for (const region of browser.document.querySelectorAll("[data-live],[data-poll-s]")) {
    follow(browser, region);
  }
}

function follow(browser: Browser, region: BrowserElement): void {
  let isAsked = false;
  let isBusy = false;
  let isOver = false;
  let source = openStream();
  const refresh = async (): Promise<void> => {
    isAsked = true;
    if (isBusy) {
      return;
    }
    isBusy = true;
    while (isAsked) {
      isAsked = false;
      const wasOver = isOver;
      await refreshRegion(browser, region).catch(() => undefined);
      // Only now does what was recorded stand in the place of what was being written.
      if (wasOver && isOver) {
        isOver = false;
        showDraft(region, undefined);
      }
    }
    isBusy = false;
    if (!region.hasAttribute("data-live")) {
      source?.close();
      source = undefined;
    }
  };
  function openStream() {
    const url = region.getAttribute("data-live");
    if (url === null) {
      return undefined;
    }
    const opened = new browser.EventSource(url);
    opened.onmessage = () => void refresh();
    for (const name of (region.getAttribute("data-events") ?? "").split(" ")) {
      opened.addEventListener(name, () => {
        isOver = isOver || endsDraft(name);
        void refresh();
      });
    }
    opened.addEventListener("delta", ({ data }) => {
      const piece = JSON.parse(data);
      // The next reply has begun and takes the place of the last one by itself.
      isOver = isOver && piece.at > 0;
      showDraft(region, piece);
    });
    // Also after a lost connection: what was missed is on the page that is fetched.
    opened.onerror = () => void refresh();
    return opened;
  }
  const pollS = Number(region.getAttribute("data-poll-s") ?? "0");
  if (pollS > 0) {
    browser.setInterval(() => {
      const isStreaming = source !== undefined && source.readyState !== 2;
      if (!browser.document.hidden && !isStreaming && region.hasAttribute("data-poll-s")) {
        void refresh();
      }
    }, pollS * 1000);
  }
}

/** Fetches this page again and takes over what has changed in one region. */
async function refreshRegion(browser: Browser, region: BrowserElement): Promise<void> {
  const response = await browser.fetch(browser.location.href, { headers: { Accept: "text/html" } });
  // A redirect leads to another page, such as the one to sign in on.
  if (!response.ok || response.redirected) {
    return;
  }
  const fetched = new browser.DOMParser().parseFromString(await response.text(), "text/html");
  const fresh = fetched.getElementById(region.id);
  if (fresh === null) {
    region.remove();
    return;
  }
  for (const name of ["data-live", "data-poll-s"]) {
    if (!fresh.hasAttribute(name)) {
      region.removeAttribute(name);
    }
  }
  takeOver(browser, region, fresh);
}

/** Changes as few children as it can, so that focus and selection stay. */
function takeOver(browser: Browser, region: BrowserElement, fresh: BrowserElement): void {
  const wanted = [...fresh.children];
  const ids = new Set(wanted.map(({ id }) => id));
  for (const child of [...region.children]) {
    if (!ids.has(child.id)) {
      child.remove();
    }
  }
  for (const [index, child] of wanted.entries()) {
    const present = [...region.children].find(({ id }) => id === child.id);
    if (present === undefined) {
      region.insertBefore(browser.document.importNode(child, true), region.children[index] ?? null);
    } else {
      takeOverChild(browser, present, child);
    }
  }
}

function takeOverChild(browser: Browser, present: BrowserElement, fresh: BrowserElement): void {
  const both = (name: string): boolean => present.hasAttribute(name) && fresh.hasAttribute(name);
  if (both("data-nested")) {
    takeOver(browser, present, fresh);
    return;
  }
  // What is kept holds what is being written at this moment, by a person or by a model.
  if (both("data-keep") || fresh.outerHTML === sourceOf(present)) {
    return;
  }
  const hadFocus = present.contains(browser.document.activeElement);
  const taken = browser.document.importNode(fresh, true);
  present.replaceWith(taken);
  if (hadFocus) {
    taken.querySelector("a,button,summary")?.focus();
  }
}

/** An element as the server wrote it: without what the reader has opened and what a clock has changed. */
function sourceOf(element: BrowserElement): string {
  const copy = element.cloneNode(true);
  for (const fold of copy.querySelectorAll("details[open]")) {
    fold.removeAttribute("open");
  }
  return copy.outerHTML;
}

/** Whether what was being written is on the page by then, or will never be. */
function endsDraft(name: string): boolean {
  return ["model.requested", "model.failed", "call.decided", "run.ended"].includes(name);
}

/** Puts a piece into its place in the reply that is being written; undefined empties it. */
function showDraft(region: BrowserElement, piece: { readonly at: number; readonly text: string } | undefined): void {
  const drafts = [...region.querySelectorAll("[data-draft]")];
  const draft = drafts.at(-1);
  if (draft === undefined) {
    return;
  }
  const whole =
    piece === undefined ? "" : `${(draft.getAttribute("data-draft") ?? "").slice(0, piece.at)}${piece.text}`;
  draft.setAttribute("data-draft", whole);
  // Foreign text goes in as text and never as markup, without what changes how the text around it looks.
  draft.textContent = whole.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\p{Cn}]/gu, (each) =>
    each === "\n" ? each : "\ufffd",
  );
  draft.hidden = whole === "";
}

export const LIVE_SCRIPT: string = scriptOf(live, [
  follow,
  refreshRegion,
  takeOver,
  takeOverChild,
  sourceOf,
  endsDraft,
  showDraft,
]);
