export { htmlReport } from "./html.ts";
export { junitReport } from "./junit.ts";
export { MARKDOWN_MARK, markdownReport, type ReportOptions } from "./markdown.ts";
export { readVerdict } from "./read-verdict.ts";
