export interface InvoiceLine {
  readonly text: string
  readonly quantity: number
  readonly unitCents: number
}

export const totalCents = (lines: ReadonlyArray<InvoiceLine>): number => {
  let total = 0
  for (const line of lines) total += line.quantity * line.unitCents
  return total
}

export const render = (lines: ReadonlyArray<InvoiceLine>): string =>
  lines.map((line) => `${line.quantity} x ${line.text}: ${(line.unitCents / 100).toFixed(2)} EUR`).join("\n")
