/** The mark of the console: a rope through a ring. */
export const ICON: string = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="3" fill="#0b4f8a"/><path d="M5 3v10M5 8a3 3 0 1 1 0 .01" fill="none" stroke="#fff" stroke-width="2"/></svg>
`;
