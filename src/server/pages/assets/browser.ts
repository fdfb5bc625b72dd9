/**
 * The little of a browser that the islands use. The package is compiled without the types of the DOM, which would
 * offer `window` and `document` to the server as well.
 */
export interface BrowserElement {
  readonly id: string;
  readonly outerHTML: string;
  textContent: string | null;
  hidden: boolean;
  open?: boolean;
  readonly children: ArrayLike<BrowserElement> & Iterable<BrowserElement>;
  getAttribute(name: string): string | null;
  removeAttribute(name: string): void;
  setAttribute(name: string, value: string): void;
  hasAttribute(name: string): boolean;
  append(child: BrowserElement): void;
  remove(): void;
  focus(): void;
  replaceWith(other: BrowserElement): void;
  contains(other: BrowserElement | null): boolean;
  insertBefore(child: BrowserElement, before: BrowserElement | null): void;
  querySelector(selector: string): BrowserElement | null;
  querySelectorAll(selector: string): Iterable<BrowserElement>;
  cloneNode(deep: boolean): BrowserElement;
}

interface BrowserDocument extends Pick<BrowserElement, "querySelector" | "querySelectorAll"> {
  readonly activeElement: BrowserElement | null;
  readonly hidden: boolean;
  getElementById(id: string): BrowserElement | null;
  addEventListener(type: string, listener: () => void): void;
  importNode(node: BrowserElement, deep: boolean): BrowserElement;
}

interface BrowserEventSource {
  readonly readyState: number;
  onmessage: ((event: BrowserMessage) => void) | null;
  onerror: (() => void) | null;
  addEventListener(type: string, listener: (event: BrowserMessage) => void): void;
  close(): void;
}

interface BrowserMessage {
  readonly data: string;
  readonly lastEventId: string;
}

export interface Browser {
  readonly document: BrowserDocument;
  readonly location: { readonly href: string };
  readonly Date: { now(): number };
  readonly EventSource: new (url: string) => BrowserEventSource;
  readonly DOMParser: new () => { parseFromString(text: string, type: string): BrowserDocument };
  fetch(
    url: string,
    options: { readonly headers: Readonly<Record<string, string>> },
  ): Promise<{ readonly ok: boolean; readonly redirected: boolean; text(): Promise<string> }>;
  setTimeout(callback: () => void, ms: number): number;
  setInterval(callback: () => void, ms: number): number;
}

/** The text of a script that runs `main` on the browser, made of functions that use nothing but each other. */
export function scriptOf(main: (browser: Browser) => void, parts: readonly ((...args: never) => unknown)[]): string {
  const functions = [...parts, main].map((each) => each.toString());
  return `"use strict";\n(() => {\n${functions.join("\n")}\n${main.name}(globalThis);\n})();\n`;
}
