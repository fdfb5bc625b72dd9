/**
 * Every colour, size and face of the pages, each in its light and its dark value.
 *
 * Text on its ground has a contrast of at least 4.5, edges of controls at least 3 (WCAG 2.2, AA).
 */
export const TOKENS: string = `
:root {
  color-scheme: light dark;
  --ground: light-dark(#f4f6f8, #0f141a);
  --surface: light-dark(#ffffff, #161d25);
  --sunk: light-dark(#eef1f5, #1e2731);
  --line: light-dark(#d8dee6, #2b3642);
  --edge: light-dark(#7c8797, #6b7a8c);
  --ink: light-dark(#16202c, #e5eaf0);
  --soft: light-dark(#4b5868, #a6b2c0);
  --accent: light-dark(#0b4f8a, #86bdf2);
  --on-accent: light-dark(#ffffff, #0c1a28);
  --accent-ground: light-dark(#e6eff7, #18293a);
  --good: light-dark(#135c36, #83d1a2);
  --good-ground: light-dark(#e5f2ea, #142c1f);
  --wait: light-dark(#744700, #e6bd6c);
  --wait-ground: light-dark(#fbf0dc, #30260f);
  --bad: light-dark(#9d1b24, #f4a09d);
  --bad-ground: light-dark(#fae9e9, #38181a);
  --focus: light-dark(#0a5fd0, #93c8ff);
  --face: system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
  --mono: ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace;
  --small: 0.8125rem;
  --gap: 1rem;
  --tight: 0.5rem;
  --round: 4px;
  --side: 13rem;
}
[data-theme="light"] { color-scheme: light; }
[data-theme="dark"] { color-scheme: dark; }
`;
