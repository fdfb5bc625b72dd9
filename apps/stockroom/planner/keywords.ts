/** Words that say nothing about what is looked for. */
const STOP_WORDS = new Set(
  (
    "a about all an and any are at be by can could do does for from get give have has how i in into is it its long " +
    "many me much my of on or our please say says shall should show tell than that the their them there these they " +
    "this to up us was we were what when where which who why will with would you your above below"
  ).split(" "),
);

/** The words of a sentence that matter, in its order and in lower case. */
export function keywordsOf(sentence: string): string {
  return (sentence.toLowerCase().match(/[a-z0-9]+(?:[-.][a-z0-9]+)*/g) ?? [])
    .filter((word) => !STOP_WORDS.has(word))
    .join(" ");
}
