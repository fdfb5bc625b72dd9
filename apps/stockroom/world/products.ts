/** One line of the catalogue. Prices are US dollars. */
export interface Product {
  readonly sku: string;
  readonly name: string;
  readonly category: string;
  /** Words that people search for and that stand in neither name nor category. */
  readonly keywords: string;
  readonly unitsInStock: number;
  readonly reorderPoint: number;
  readonly aisle: number;
  readonly bin: number;
  readonly priceUsd: number;
}

type Row = readonly [
  name: string,
  category: string,
  keywords: string,
  unitsInStock: number,
  reorderPoint: number,
  aisle: number,
  bin: number,
  priceUsd: number,
];

/** SKU-1001 and on, in this order. */
const ROWS: readonly Row[] = [
  ["Copier Paper A4 80 gsm", "Office", "ream sheets printer", 0, 60, 1, 1, 5.9],
  ["Desk Lamp LED Dimmable", "Office", "light lighting", 31, 12, 1, 3, 64],
  ["Ballpoint Pen Blue 50-pack", "Office", "biro writing", 118, 40, 1, 4, 11.5],
  ["Lever Arch File A4 Black", "Office", "binder folder filing", 260, 80, 1, 6, 3.2],
  ["Whiteboard Marker Assorted 4-pack", "Office", "dry wipe writing", 73, 30, 1, 8, 6.75],
  ["Inkjet Cartridge XL Black", "Printing", "ink printer", 24, 20, 1, 10, 32.4],
  ["Laser Toner Cartridge TN-2420", "Printing", "printer black", 18, 25, 1, 12, 58.5],
  ["Cordless Drill Driver 18V", "Power Tools", "battery screwdriver", 5, 10, 2, 2, 129],
  ["Jigsaw 650W", "Power Tools", "saw cutting", 14, 6, 2, 3, 74.99],
  ["Angle Grinder 115 mm", "Power Tools", "cutting disc", 22, 8, 2, 4, 68.25],
  ["Claw Hammer 20 oz", "Hand Tools", "steel carpentry", 88, 30, 3, 7, 18.4],
  ["Socket Set 94-piece", "Hand Tools", "ratchet wrench", 233, 45, 3, 9, 89.9],
  ["Adjustable Spanner 250 mm", "Hand Tools", "wrench", 158, 45, 3, 10, 21.35],
  ["Tape Measure 8 m", "Hand Tools", "measuring rule", 190, 35, 3, 12, 9.8],
  ["Safety Goggles Anti-Fog", "Safety", "eye protection glasses", 42, 50, 4, 1, 7.6],
  ["Hard Hat Vented White", "Safety", "helmet head protection", 96, 40, 4, 2, 15.1],
  ["Hi-Vis Vest Yellow Large", "Safety", "reflective clothing", 64, 60, 4, 4, 8.95],
  ["Nitrile Gloves Medium 100-box", "Safety", "disposable hand protection", 9, 80, 4, 6, 12.3],
  ["Ear Defenders SNR 30 dB", "Safety", "hearing protection noise", 57, 25, 4, 8, 19.45],
  ["First Aid Kit Workplace 50-person", "Safety", "bandages plasters medical", 12, 15, 4, 10, 46.2],
  ["Safety Boots S3 Size 9", "Safety", "footwear steel toe", 317, 40, 4, 12, 54.7],
  ["Cardboard Box 400 mm", "Packaging", "carton", 640, 200, 5, 1, 1.85],
  ["Bubble Wrap Roll 50 m", "Packaging", "cushioning", 85, 30, 5, 3, 17.2],
  ["Packing Tape Brown 48 mm 6-pack", "Packaging", "adhesive", 410, 120, 5, 4, 9.15],
  ["Stretch Film Clear 400 mm 300 m", "Packaging", "pallet", 150, 60, 5, 6, 7.3],
  ["Jiffy Mailer Padded A4 100-pack", "Packaging", "envelope post parcel mailing", 95, 40, 5, 8, 24.6],
  ["Pallet Truck 2500 kg", "Handling", "jack lifting", 4, 3, 6, 1, 389],
  ["Sack Truck Folding 90 kg", "Handling", "trolley hand cart", 17, 6, 6, 2, 58],
  ["Platform Trolley 300 kg", "Handling", "cart", 11, 5, 6, 3, 112.5],
  ["Step Ladder 4-Tread", "Handling", "access climbing", 28, 10, 6, 5, 61.4],
  ["Storage Bin Stackable 10 L", "Handling", "container tub shelving", 520, 150, 6, 7, 4.4],
  ["Floor Cleaner Concentrate 5 L", "Cleaning", "detergent mopping", 66, 20, 7, 1, 13.8],
  ["Microfibre Cloth Blue 10-pack", "Cleaning", "wipe dusting", 205, 60, 7, 2, 6.2],
  ["Mop and Bucket Set", "Cleaning", "wringer", 33, 12, 7, 4, 27.9],
  ["Disinfectant Spray 750 ml", "Cleaning", "sanitiser surface", 148, 70, 7, 5, 4.95],
  ["Bin Liner Heavy Duty 200-roll", "Cleaning", "rubbish sack refuse", 275, 90, 7, 8, 16.4],
  ["Extension Lead 10 m 4-Way", "Electrical", "cable socket power", 49, 20, 8, 1, 18.75],
  ["Cable Tie 300 mm Black 100-pack", "Electrical", "zip fastener", 380, 100, 8, 2, 5.1],
  ["AA Battery Alkaline 24-pack", "Electrical", "cells power", 172, 80, 8, 3, 14.25],
  ["LED Tube 1200 mm 18 W", "Electrical", "light lighting lamp", 83, 30, 8, 5, 9.7],
  ["Multimeter Digital", "Electrical", "tester voltage", 19, 8, 8, 7, 36.5],
  ["Wood Screw 4 x 40 mm 200-box", "Fixings", "fastener countersunk", 430, 120, 9, 1, 6.6],
  ["Hex Bolt M8 x 50 mm 50-box", "Fixings", "fastener steel", 295, 90, 9, 2, 12.1],
  ["Wall Plug Red 100-pack", "Fixings", "fastener anchor", 610, 150, 9, 3, 3.05],
  ["Epoxy Adhesive 25 ml", "Fixings", "glue bonding", 77, 25, 9, 5, 8.2],
  ["Duct Tape Silver 50 m", "Fixings", "adhesive repair", 139, 50, 9, 6, 7.85],
  ["Barcode Scanner Wireless", "Equipment", "reader handheld", 7, 5, 10, 1, 148],
  ["Label Printer Thermal 4 inch", "Equipment", "labels", 6, 4, 10, 2, 219],
  ["Thermal Label Roll 100 x 150 mm", "Equipment", "labels sticker", 340, 110, 10, 3, 11.9],
  ["Platform Scale 150 kg", "Equipment", "weighing balance", 3, 3, 10, 5, 264],
  ["Dust Sheet Cotton 3.6 x 2.7 m", "Decorating", "cover painting", 54, 20, 11, 1, 13.3],
  ["Paint Roller Set 9 inch", "Decorating", "brush tray", 68, 25, 11, 2, 10.45],
];

/** The catalogue, in the order of SKUs. */
export const PRODUCTS: readonly Product[] = ROWS.map(
  ([name, category, keywords, unitsInStock, reorderPoint, aisle, bin, priceUsd], index) => ({
    sku: `SKU-${1001 + index}`,
    name,
    category,
    keywords,
    unitsInStock,
    reorderPoint,
    aisle,
    bin,
    priceUsd,
  }),
);

const BY_SKU: ReadonlyMap<string, Product> = new Map(PRODUCTS.map((product) => [product.sku, product]));

export function findProduct(sku: string): Product | undefined {
  return BY_SKU.get(sku);
}
