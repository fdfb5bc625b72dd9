/** The long fuzz: `npm run fuzz -- --help` is answered with the options. */
import { main } from "../test/fuzz/main.ts";

process.exitCode = await main();
