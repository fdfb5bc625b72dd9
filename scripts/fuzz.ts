/** The long fuzz; `npm run fuzz -- --help` tells its options. */
import { main } from "../test/fuzz/main.ts";

process.exitCode = await main();
