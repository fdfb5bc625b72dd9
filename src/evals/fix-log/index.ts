export { FIX_LOG_METRICS, type FixLog, type FixLogBuild, type FixLogOptions, runFixLog } from "./fix-log.ts";
export { fixLogSvg } from "./fix-log-svg.ts";
export { formatFixLog } from "./fix-log-text.ts";
