/** Every crash of `test/crash/`; `npm run test:crash -- --help` tells its options. */
import { main } from "../test/crash/main.ts";

process.exitCode = await main();
