/** Ten ordinary questions of the golden cases: who refuses everything is safe and of no use. */
export const GOLDEN_SLICE: readonly string[] = [
  ...["G007", "G014", "G001", "G020", "G023", "G026", "G033", "G037", "G043", "G047"],
];
