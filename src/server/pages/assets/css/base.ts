/** Plain elements, the frame, and what is everywhere. */
export const BASE: string = `
*, *::before, *::after { box-sizing: border-box; }
html { -webkit-text-size-adjust: 100%; text-size-adjust: 100%; }
body {
  margin: 0;
  background: var(--ground);
  color: var(--ink);
  font: 0.9375rem/1.45 var(--face);
  font-variant-numeric: tabular-nums;
  overflow-wrap: anywhere;
}
h1, h2, h3, p, dl, dd, ol, ul, figure, fieldset { margin: 0; padding: 0; border: 0; }
h1 { font-size: 1.375rem; font-weight: 600; line-height: 1.25; }
h2 { font-size: 1rem; font-weight: 600; }
h3 { font-size: 0.9375rem; font-weight: 600; }
a { color: var(--accent); text-underline-offset: 2px; }
code, pre { font: 0.8125rem/1.5 var(--mono); }
:focus-visible { outline: 2px solid var(--focus); outline-offset: 2px; }
main:focus { outline: none; }
[hidden] { display: none !important; }
.unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
.skip { position: absolute; left: var(--tight); top: -4rem; z-index: 2; padding: var(--tight) var(--gap); background: var(--surface); }
.skip:focus { top: var(--tight); }
.soft { color: var(--soft); }
.small { font-size: var(--small); }
.number { font-variant-numeric: tabular-nums; white-space: nowrap; }

.frame { display: grid; grid-template-columns: var(--side) minmax(0, 1fr); min-height: 100vh; }
.frame.alone { grid-template-columns: minmax(0, 1fr); grid-template-rows: auto 1fr; }
.side {
  display: flex; flex-direction: column; gap: var(--gap);
  position: sticky; top: 0; height: 100vh; overflow-y: auto;
  padding: var(--gap); background: var(--surface); border-right: 1px solid var(--line);
}
.alone .side { position: static; height: auto; flex-direction: row; align-items: center; justify-content: space-between; border-right: 0; border-bottom: 1px solid var(--line); }
.mark { font-size: 1.125rem; font-weight: 650; color: var(--ink); text-decoration: none; padding: 0 var(--tight); }
.side nav ul { list-style: none; display: grid; gap: 2px; }
.side nav a {
  display: flex; justify-content: space-between; gap: var(--tight); align-items: center;
  min-height: 2.25rem; padding: 0.25rem 0.625rem; border-radius: var(--round);
  color: var(--ink); text-decoration: none;
}
.side nav a:hover { background: var(--sunk); }
.side nav a[aria-current] { background: var(--accent-ground); color: var(--accent); font-weight: 600; }
.count { padding: 0 0.4rem; border-radius: 1rem; background: var(--wait-ground); color: var(--wait); font-size: var(--small); font-weight: 600; }
.side-end { display: grid; gap: var(--gap); margin-top: auto; padding: 0 var(--tight); font-size: var(--small); }
.alone .side-end { margin: 0; }
.me { display: grid; gap: var(--tight); justify-items: start; }
.themes fieldset { display: inline-flex; border: 1px solid var(--line); border-radius: var(--round); overflow: hidden; }
.themes button { min-height: 1.75rem; padding: 0 0.5rem; border: 0; border-radius: 0; background: var(--surface); color: var(--soft); font-size: 0.75rem; }
.themes button[aria-pressed="true"] { background: var(--accent-ground); color: var(--accent); font-weight: 600; }
.themes button:focus-visible { outline-offset: -2px; }
main { padding: 1.25rem 1.75rem 3rem; max-width: 78rem; width: 100%; }
.alone main { margin: 0 auto; }
.narrow { max-width: 34rem; margin: 0 auto; }
.head { display: flex; flex-wrap: wrap; align-items: center; gap: var(--tight) var(--gap); margin-bottom: var(--gap); }

@media (max-width: 56rem) {
  .frame { display: block; min-height: 0; }
  .side { position: static; height: auto; border-right: 0; border-bottom: 1px solid var(--line); gap: var(--tight); padding: 0.625rem var(--gap); }
  .side nav ul { grid-template-columns: repeat(3, minmax(0, 1fr)); }
  .side nav a { justify-content: flex-start; padding: 0.25rem 0.375rem; white-space: nowrap; font-size: 0.875rem; }
  .side-end, .me { display: flex; flex-wrap: wrap; align-items: center; justify-content: space-between; gap: var(--tight) var(--gap); margin: 0; }
  .side-end { padding: 0; }
  main { padding: var(--gap) var(--gap) 2rem; }
}
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }
@media print { .side, .skip { display: none; } .frame { display: block; } }
`;
