/** Tables, the story of a run, conversations, one request, and charts. */
export const VIEWS: string = `
.table { width: 100%; border-collapse: collapse; background: var(--surface); border: 1px solid var(--line); margin-bottom: var(--gap); font-size: 0.875rem; }
.panel .table { border: 0; margin: 0; }
.table th, .table td { padding: 0.4375rem 0.75rem; text-align: left; vertical-align: top; border-top: 1px solid var(--line); font-weight: 400; }
.panel .table th:first-child, .panel .table td:first-child { padding-left: 0; }
.table thead th { border-top: 0; background: var(--sunk); color: var(--soft); font-size: var(--small); font-weight: 600; white-space: nowrap; }
.panel .table thead th { background: none; }
.table tbody tr:hover { background: color-mix(in srgb, var(--sunk) 55%, transparent); }
.table .end { text-align: right; }
.table tr.changed { background: var(--bad-ground); }
.table .nowrap { white-space: nowrap; }
.table .amount { font-weight: 600; white-space: nowrap; }
.pages { display: flex; flex-wrap: wrap; gap: var(--gap); align-items: center; }

.story { list-style: none; display: grid; gap: 2px; }
.story-item { padding: 0.3125rem 0 0.3125rem 0.75rem; background: var(--surface); }
.story-line { display: grid; grid-template-columns: 4.25rem 12rem minmax(0, 1fr); gap: 0.125rem 0.625rem; align-items: start; }
.story-line > time { color: var(--soft); font-size: var(--small); line-height: 1.375rem; }
.story-line > .badge { justify-self: start; white-space: normal; }
.story-item.told { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0 var(--gap); }
.story-item details[open] { grid-column: 1 / -1; }
.story .tool { font-weight: 600; }
.story-step { margin-top: var(--gap); }
.story-step:first-of-type { margin-top: 0; }

.chat { display: grid; gap: var(--tight); margin-bottom: var(--gap); }
.turn:empty { display: none; }
.turn { display: grid; gap: var(--tight); }
.said { max-width: 46rem; padding: 0.5rem 0.875rem; border-radius: 0.5rem; background: var(--surface); border: 1px solid var(--line); width: fit-content; }
.said.user { justify-self: end; background: var(--accent-ground); border-color: transparent; }
.said.draft { white-space: pre-wrap; unicode-bidi: isolate; border-style: dashed; }
.said .who { color: var(--soft); font-size: 0.75rem; }
.gates { background: var(--surface); border: 1px solid var(--line); border-radius: var(--round); padding: 0.375rem 0.75rem; }
.composer { display: grid; gap: var(--tight); }
.composer .row { justify-content: space-between; }
.composer select { width: auto; max-width: 100%; }

.short { white-space: nowrap; }

.request-head { display: grid; gap: 0.125rem; }
.request-head .amount { font-size: 1.75rem; font-weight: 650; line-height: 1.2; }
.request-head .recipient { font-size: 1.125rem; }

.chart { width: 100%; height: auto; display: block; }
.chart text { fill: var(--soft); font: 11px var(--face); }
.chart .bar { fill: var(--accent); }
.chart .bar.tone-good { fill: var(--good); } .chart .bar.tone-bad { fill: var(--bad); } .chart .bar.tone-wait { fill: var(--wait); }
.chart .axis { stroke: var(--line); }
.chart .curve { fill: none; stroke: var(--accent); stroke-width: 2; }
.chart .dot { fill: var(--accent); }
.bars { display: grid; gap: 0.3125rem; }
@media (min-width: 70rem) { .bars.many { grid-template-columns: 1fr 1fr; gap: 0.3125rem 1.5rem; } }
.bars > li { display: grid; grid-template-columns: minmax(0, 1fr) 3rem; gap: 0 var(--tight); font-size: var(--small); list-style: none; }
.bars svg { grid-column: 1 / -1; height: 0.375rem; width: 100%; display: block; }
.bars .track { fill: var(--sunk); }
.bars .value { text-align: right; font-weight: 600; }

@media (max-width: 70rem) {
  .table .nowrap, .table .badge { white-space: normal; }
}
@media (max-width: 44rem) {
  .chart text { font-size: 14px; }
  .table, .table tbody, .table tr, .table td, .table th[scope="row"] { display: block; }
  .table thead { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }
  .table tr { padding: var(--tight) 0.75rem; border-top: 1px solid var(--line); }
  .panel .table tr { padding: var(--tight) 0; }
  .table th[scope="row"], .table td { position: relative; min-height: 1.5rem; padding: 0.125rem 0 0.125rem 7rem !important; border: 0; text-align: left !important; }
  .table [data-label]::before { content: attr(data-label); position: absolute; left: 0; color: var(--soft); font-size: var(--small); font-weight: 400; }
  .story-line { grid-template-columns: 4.25rem minmax(0, 1fr); }
  .story-line > .story-text { grid-column: 1 / -1; }
  .story-item.told { display: block; }
  .table .wide { display: none !important; }
}
`;
