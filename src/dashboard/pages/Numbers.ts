/** Reads numbers of the address. */

/** Returns a positive integer, or undefined. */
export const toCount = (text: string | undefined): number | undefined =>
  text !== undefined && /^[1-9]\d{0,14}$/.test(text) ? Number(text) : undefined

export const sum = (values: ReadonlyArray<number>): number => values.reduce((total, value) => total + value, 0)
