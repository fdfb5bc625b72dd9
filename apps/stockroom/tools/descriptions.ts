/** What the model is told about each tool, in the order in which the tools are listed. */
export const DESCRIPTIONS = {
  search_products:
    "Search the product catalogue by product name, category or keyword and get the best matches with SKU, price and " +
    "number available. Use it to find out which articles exist; for one known SKU another tool is better.",
  get_stock_level:
    "Get the stock level (units in stock), reorder point and warehouse location (aisle and bin) of one SKU. Use it " +
    "for every question about how many are left, where an article is kept or whether it must be reordered.",
  get_order_status:
    "Get the status, items, carrier, tracking number and delivery dates of one customer order (order status by order " +
    "id). Orders of the old system have ids that begin with ORD-9.",
  create_restock_request:
    "Create a restock request (purchase order to the supplier) for a SKU. Quantities from 10 to 500 are accepted at " +
    "once, up to 5000 wait for approval, more are refused. One open restock request for each SKU.",
  search_policy_docs:
    "Search the Stockroom policy documents (returns, shipping, restock rules, warranty, glossary, supplier lead " +
    "times) and get the three sections that fit best, as text.",
} as const;

export type StockroomToolName = keyof typeof DESCRIPTIONS;

/** The description under `ambiguous_tool_desc`: it promises what four other tools do. */
export const AMBIGUOUS_DESCRIPTION =
  "Look up products, inventory, stock level, units in stock for a SKU, orders, order status and tracking by order id, " +
  "and anything else about the warehouse.";
