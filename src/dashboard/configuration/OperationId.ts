/** Ids of operations: chosen by the browser, so that a repeated request is applied once. */

/** `crypto.randomUUID` exists only under https. */
export const makeOperationId = (): string =>
  `dashboard-${[...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`
