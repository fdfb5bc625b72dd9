export { type BelayCallConfig, type GraphToolContract, graphTools } from "./graph-tool.ts";
export { type BelayRunNode, type BelayRunNodeOptions, belayRunNode } from "./run-node.ts";
export type { ApprovalInterrupt, GraphDecision, SettleOptions } from "./settle.ts";
export { type BelayToolNode, type BelayToolNodeOptions, belayToolNode } from "./tool-node.ts";
