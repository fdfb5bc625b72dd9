type OrderStatus = "processing" | "shipped" | "delivered" | "cancelled";

/** One customer order. Dates are ISO days. */
export interface Order {
  readonly orderId: string;
  readonly customer: string;
  readonly status: OrderStatus;
  readonly items: readonly { readonly sku: string; readonly quantity: number }[];
  readonly carrier?: string;
  readonly tracking?: string;
  readonly shippedOn?: string;
  readonly estimatedDelivery?: string;
  readonly deliveredOn?: string;
}

/** Orders of the old system, whose first look-up in a run fails. */
export function isLegacy(orderId: string): boolean {
  return orderId.startsWith("ORD-9");
}

const ORDERS: readonly Order[] = [
  shipped("ORD-1001", "Avery Lindqvist", "DPD", "2026-09-12", "DP48213377", "2026-09-16", "SKU-1003 x 4"),
  delivered("ORD-1002", "Noor Haddad", "UPS", "2026-09-01", "1ZB5530187", "2026-09-04", "SKU-1022 x 60, SKU-1024 x 2"),
  processing("ORD-1003", "Tomasz Zielinski", "2026-09-24", "SKU-1012 x 1"),
  shipped("ORD-1004", "Ines Carvalho", "FedEx", "2026-09-15", "FX70019462", "2026-09-18", "SKU-1030 x 2"),
  cancelled("ORD-1005", "Gareth Pugh", "SKU-1008 x 1"),
  delivered("ORD-1006", "Mei Tanaka", "Royal Mail", "2026-08-27", "RM55120934", "2026-08-29", "SKU-1015 x 10"),
  shipped("ORD-1007", "Oluwaseun Bello", "DHL", "2026-09-17", "DH33907156", "2026-09-21", "SKU-1043 x 6, SKU-1042 x 6"),
  processing("ORD-1008", "Hanna Virtanen", "2026-09-27", "SKU-1020 x 3"),
  delivered("ORD-1009", "Rafael Montoya", "Evri", "2026-09-05", "EV81047729", "2026-09-09", "SKU-1033 x 5"),
  shipped("ORD-1010", "Siobhan Keane", "An Post", "2026-09-18", "AP60283315", "2026-09-23", "SKU-1049 x 8"),
  shipped("ORD-9001", "Lucas Moreau", "Parcelforce", "2026-09-20", "PA77120931", "2026-09-24", "SKU-1028 x 1"),
  delivered("ORD-9002", "Priya Raman", "TNT", "2026-08-30", "TN29385561", "2026-09-02", "SKU-1041 x 2"),
  processing("ORD-9003", "Jakub Novak", "2026-09-29", "SKU-1027 x 1"),
];

const BY_ID: ReadonlyMap<string, Order> = new Map(ORDERS.map((order) => [order.orderId, order]));

export function findOrder(orderId: string): Order | undefined {
  return BY_ID.get(orderId);
}

function shipped(
  orderId: string,
  customer: string,
  carrier: string,
  shippedOn: string,
  tracking: string,
  estimatedDelivery: string,
  items: string,
): Order {
  const status = "shipped";
  return { orderId, customer, status, items: itemsOf(items), carrier, tracking, shippedOn, estimatedDelivery };
}

function delivered(
  orderId: string,
  customer: string,
  carrier: string,
  shippedOn: string,
  tracking: string,
  deliveredOn: string,
  items: string,
): Order {
  const status = "delivered";
  return { orderId, customer, status, items: itemsOf(items), carrier, tracking, shippedOn, deliveredOn };
}

function processing(orderId: string, customer: string, estimatedDelivery: string, items: string): Order {
  return { orderId, customer, status: "processing", items: itemsOf(items), estimatedDelivery };
}

function cancelled(orderId: string, customer: string, items: string): Order {
  return { orderId, customer, status: "cancelled", items: itemsOf(items) };
}

/** `SKU-1001 x 2, SKU-1002 x 1`. */
function itemsOf(text: string): Order["items"] {
  return text.split(", ").map((item) => {
    const [sku = "", quantity] = item.split(" x ");
    return { sku, quantity: Number(quantity) };
  });
}
