/** Panels, badges, forms, lists of fields, and text of others. */
export const PARTS: string = `
.panel { background: var(--surface); border: 1px solid var(--line); border-radius: var(--round); padding: 0.875rem var(--gap); margin-bottom: var(--gap); }
.panel > h2 { margin-bottom: var(--tight); }
.panel > * + p, .panel > p + * { margin-top: var(--tight); }
.stack { display: grid; gap: var(--tight); }
.columns { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 0 var(--gap); align-items: stretch; }
.panel > .columns { margin-top: var(--gap); gap: var(--gap) 2rem; }
.panel h3 { margin: 0.5rem 0 0.25rem; }
.main-aside { display: grid; grid-template-columns: minmax(0, 1fr) 20rem; gap: 0 var(--gap); align-items: stretch; }
.panel > .columns { margin-top: var(--gap); gap: var(--gap) 2rem; }
.panel h3 { margin: 0.5rem 0 0.25rem; }
.main-aside { grid-template-rows: auto 1fr; }
.main-aside > aside { grid-column: 2; grid-row: 1 / span 2; position: sticky; top: var(--gap); }
.row { display: flex; flex-wrap: wrap; gap: var(--tight); align-items: center; }
.spread { display: flex; flex-wrap: wrap; gap: var(--tight) var(--gap); align-items: center; justify-content: space-between; }

.badge { display: inline-flex; align-items: center; gap: 0.375rem; padding: 0 0.5rem; border-radius: var(--round); font-size: var(--small); font-weight: 600; line-height: 1.375rem; white-space: nowrap; background: var(--sunk); color: var(--soft); }
.badge::before { content: ""; width: 0.4375rem; height: 0.4375rem; border-radius: 50%; background: currentColor; }
.badge.tone-quiet::before { background: transparent; border: 1.5px solid currentColor; }
.tone-good { color: var(--good); } .badge.tone-good { background: var(--good-ground); }
.tone-wait { color: var(--wait); } .badge.tone-wait { background: var(--wait-ground); }
.tone-bad { color: var(--bad); } .badge.tone-bad { background: var(--bad-ground); }
.tone-info { color: var(--accent); } .badge.tone-info { background: var(--accent-ground); }
.edge-good { border-left: 3px solid var(--good); }
.edge-wait { border-left: 3px solid var(--wait); }
.edge-bad { border-left: 3px solid var(--bad); }
.edge-info { border-left: 3px solid var(--accent); }
.edge-quiet { border-left: 3px solid var(--line); }
.notice { padding: 0.625rem var(--gap); margin-bottom: var(--gap); background: var(--surface); border-radius: var(--round); border-top: 1px solid var(--line); border-right: 1px solid var(--line); border-bottom: 1px solid var(--line); }
.notice > * + * { margin-top: 0.25rem; }

button, .button, input, select, textarea { font: inherit; color: inherit; }
button, .button {
  display: inline-flex; align-items: center; justify-content: center; min-height: 2.25rem; padding: 0 0.875rem;
  border: 1px solid var(--edge); border-radius: var(--round); background: var(--surface); cursor: pointer; text-decoration: none;
}
button:hover, .button:hover { background: var(--sunk); }
button.primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); font-weight: 600; }
button.primary:hover { background: color-mix(in srgb, var(--accent) 88%, var(--ink)); }
button.danger { border-color: var(--bad); color: var(--bad); font-weight: 600; }
button.plain { min-height: 1.75rem; padding: 0; border: 0; background: none; color: var(--accent); text-decoration: underline; text-underline-offset: 2px; }
label { font-weight: 600; font-size: var(--small); }
input, select, textarea { width: 100%; min-height: 2.25rem; padding: 0.375rem 0.625rem; background: var(--surface); border: 1px solid var(--edge); border-radius: var(--round); }
textarea { min-height: 4.5rem; resize: vertical; }
textarea.code-input { font: 0.8125rem/1.5 var(--mono); min-height: 3.5rem; }
.filters { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: var(--tight); align-items: end; margin-bottom: var(--gap); }
.check { display: flex; gap: 0.375rem; align-items: center; font-weight: 400; }
.check input { width: auto; min-height: 0; }
.filters > div { display: grid; gap: 0.25rem; }
.decide .buttons { display: grid; grid-template-columns: 1fr 1fr; gap: var(--tight); }

details > summary { cursor: pointer; color: var(--accent); font-size: var(--small); width: fit-content; }
.foreign { unicode-bidi: isolate; overflow: clip; max-width: 72ch; }
.foreign.whole { padding: var(--tight); background: var(--sunk); }
.foreign-line { unicode-bidi: isolate; }
.code-point { display: inline-block; margin: 0 1px; padding: 0 0.25rem; border: 1px solid var(--wait); border-radius: 3px; background: var(--wait-ground); color: var(--wait); font: 0.75rem/1.3 var(--mono); }
.cut { color: var(--soft); font-size: var(--small); }
.code { margin: 0.25rem 0; padding: 0.625rem; background: var(--sunk); border-radius: var(--round); white-space: pre-wrap; }
.id { font-size: 0.8125rem; }
.codes { font-size: var(--small); }
.plain-list { list-style: none; display: grid; gap: 0.375rem; }
.lists { margin-bottom: var(--gap); }
.lists .button { min-height: 2rem; border-color: var(--line); }
.lists .button[aria-current] { background: var(--accent-ground); color: var(--accent); border-color: var(--accent); font-weight: 600; }
.quote { padding: 0.5rem 0.75rem; background: var(--sunk); border-radius: var(--round); }

.fields { display: grid; gap: 0; }
.fields > div { display: grid; grid-template-columns: minmax(7rem, 11rem) minmax(0, 1fr); gap: var(--tight); padding: 0.3125rem 0; border-top: 1px solid var(--line); }
.fields > div:first-child { border-top: 0; }
.fields dt { color: var(--soft); font-size: var(--small); }
.figures { display: grid; grid-template-columns: repeat(6, minmax(0, 1fr)); gap: 1px; background: var(--line); border: 1px solid var(--line); border-radius: var(--round); overflow: hidden; margin-bottom: var(--gap); }
.figures.eight { grid-template-columns: repeat(8, auto); }
.figures > div { background: var(--surface); padding: 0.625rem var(--gap); }
.figures dt { color: var(--soft); font-size: var(--small); }
.figures dd { font-size: 1.1875rem; font-weight: 600; }
.figures.eight > div { padding: 0.5rem 0.75rem; }
.figures.eight dd { font-size: 1rem; }
.figures dd .soft, .figures dd.plain { font-size: var(--small); font-weight: 400; }

.fields .fields > div { grid-template-columns: minmax(6rem, 9rem) minmax(0, 1fr); padding: 0.125rem 0; border: 0; }

@media (max-width: 70rem) {
  .figures { grid-template-columns: repeat(3, minmax(0, 1fr)); }
  .figures.eight { grid-template-columns: repeat(4, minmax(0, 1fr)); }
}
@media (max-width: 56rem) {
  .columns, .main-aside { grid-template-columns: minmax(0, 1fr); }
  .main-aside > aside { position: static; grid-column: auto; grid-row: auto; }
}
@media (max-width: 36rem) {
  .fields > div { grid-template-columns: minmax(0, 1fr); gap: 0; }
  .figures, .figures.eight { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  .fields .fields > div { grid-template-columns: minmax(5rem, 8rem) minmax(0, 1fr); gap: var(--tight); }
  button, .button, input, select { min-height: 2.75rem; }
  .themes button, button.plain { min-height: 2rem; }
}
`;
