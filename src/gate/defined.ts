/** The entries that are there: an absent option and one that is undefined are the same. */
export function defined<Options extends object>(
  options: Options,
): { [Key in keyof Options]?: NonNullable<Options[Key]> } {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as never;
}
