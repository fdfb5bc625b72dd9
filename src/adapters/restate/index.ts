export type { RestateWakerOptions } from "./restate-options.ts";
export { createRestateWaker, type RestateWaker } from "./restate-waker.ts";
