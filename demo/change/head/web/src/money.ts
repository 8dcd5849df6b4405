const format = new Intl.NumberFormat("de-DE", { style: "currency", currency: "EUR" })

/** `1234` becomes `12,34 €`. */
export const euros = (cents: number): string => format.format(cents / 100)

/** Splits an amount so that the parts add up to it again; the first parts take the odd cents. */
export const split = (cents: number, parts: number): ReadonlyArray<number> => {
  if (!Number.isInteger(parts) || parts < 1) throw new RangeError("at least one part")
  const share = Math.floor(cents / parts)
  const odd = cents - share * parts
  return Array.from({ length: parts }, (_, index) => (index < odd ? share + 1 : share))
}
