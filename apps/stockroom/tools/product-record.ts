import type { Product } from "../world/products.ts";

/** What the model needs to know about a product that was found. */
export function productRecord({ sku, name, category, unitsInStock, priceUsd }: Product) {
  return { sku, name, category, in_stock: unitsInStock, unit_price_usd: priceUsd };
}

/** Everything that the catalogue's back office keeps about a product, as `oversized_payload` gives it. */
export function fullProductRecord(product: Product) {
  const { sku, name, category, keywords } = product;
  const number = Number(sku.slice(-4));
  return {
    ...productRecord(product),
    keywords: keywords.split(" "),
    barcode: `50${number}${(number * 7919) % 1_000_000}`,
    long_description:
      `${name} from our ${category.toLowerCase()} range, bought for daily use in warehouses, workshops and offices. ` +
      "Each delivery is counted, looked over for damage and booked in before it is put away. The article is sold " +
      "singly and in full cases; a case is sealed and carries the same label as the shelf.",
    handling_notes:
      "Lift with both hands above eye level. Keep dry, out of direct sunlight and away from heating. Rotate by date of " +
      "receipt, oldest first. Report torn outer boxes to the shift lead before the article is picked.",
    dimensions_mm: { length: 120 + (number % 9) * 40, width: 80 + (number % 7) * 30, height: 40 + (number % 5) * 25 },
    weight_g: 150 + (number % 11) * 210,
    units_per_case: 6 + (number % 4) * 6,
    country_of_origin: ["DE", "PL", "VN", "IT", "CZ"][number % 5] ?? "DE",
    supplier: { id: `SUP-${100 + (number % 17)}`, terms: "net 30", minimum_order: 10 },
  };
}
