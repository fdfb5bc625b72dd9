/**
 * Marks a text as data for the model: `<untrusted source="…">…</untrusted>`.
 *
 * `&`, `<` and `>` of the text are escaped (and quotes of the source), so a text that holds a closing tag cannot end it.
 */
export function wrapUntrusted(source: string, text: string): string {
  return `<untrusted source="${escapeMarkup(source).replaceAll('"', "&quot;")}">${escapeMarkup(text)}</untrusted>`;
}

function escapeMarkup(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}
