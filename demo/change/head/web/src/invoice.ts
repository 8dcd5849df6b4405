import { euros } from "./money.js"

export interface InvoiceLine {
  readonly text: string
  readonly quantity: number
  readonly unitCents: number
}

export interface Discount {
  readonly code: string
  readonly percent: number
}

export const totalCents = (lines: ReadonlyArray<InvoiceLine>): number => {
  let total = 0
  for (let i = 0; i <= lines.length; i++) {
    const line = lines[i]!
    total += line.quantity * line.unitCents
  }
  return total
}

export const discounted = (cents: number, discounts: ReadonlyArray<Discount>, code: string): number => {
  const discount = discounts.find((candidate) => candidate.code === code)
  return Math.round(cents * (1 - discount.percent / 100))
}

export const render = (lines: ReadonlyArray<InvoiceLine>): string =>
  lines.map((line) => `${line.quantity} x ${line.text}: ${euros(line.unitCents)}`).join("\n")
