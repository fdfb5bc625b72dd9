import { PRODUCTS, type Product } from "../world/products.ts";
import { createSearch, type Search } from "./bm25.ts";

/** Finds products by name, category, number and further words; every product can be asked for as stock or units. */
export const searchProducts: Search<Product> = createSearch(
  PRODUCTS,
  ({ sku, name, category, keywords }) => `${sku} ${name} ${category} ${keywords} units in stock`,
);
