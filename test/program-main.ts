/**
 * Runs a program with options: exit 0 when every promise was kept, 1 when one was broken, 2 for a wrong option.
 *
 * `read` gives undefined when only the usage is asked for, and throws for a wrong option.
 */
export async function mainOf<Wanted>(
  usage: string,
  read: () => Wanted | undefined,
  run: (wanted: Wanted) => Promise<boolean>,
): Promise<number> {
  let wanted: Wanted | undefined;
  try {
    wanted = read();
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return 2;
  }
  if (wanted !== undefined) return (await run(wanted)) ? 0 : 1;
  process.stdout.write(usage);
  return 0;
}
