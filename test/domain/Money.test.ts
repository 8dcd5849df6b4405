/** Money: its arithmetic, and that no other number is accepted as an amount or a price. `tsc` checks the comments that expect an error. */
import { describe, expect, it } from "vitest"
import {
  addUsd,
  exceeds,
  formatUsd,
  fromNanos,
  noMoney,
  subtractUsd,
  tokenCost,
  toNanos,
  Usd,
  UsdPerMillionTokens
} from "../../src/domain/Money.ts"
import type { Caps, Reservation } from "../../src/llm/Budget.ts"
import type { LedgerReservation } from "../../src/store/Ledger.ts"

const amount = Usd.make(0.5)
const price = UsdPerMillionTokens.make(10)

describe("money", () => {
  it("is added, subtracted and compared", () => {
    expect(addUsd(amount, amount)).toBe(1)
    expect(subtractUsd(amount, amount)).toBe(noMoney)
    expect([exceeds(amount, amount), exceeds(addUsd(amount, amount), amount)]).toEqual([false, true])
    expect(exceeds(addUsd(Usd.make(Number.MAX_VALUE), Usd.make(Number.MAX_VALUE)), amount)).toBe(true)
  })

  it("of tokens is the sum of each count at its price", () => {
    expect(tokenCost([])).toBe(noMoney)
    expect(
      tokenCost([
        [100_000, price],
        [50_000, UsdPerMillionTokens.make(1)]
      ])
    ).toBe(1.05)
  })

  it("is stored in whole billionths, rounded up", () => {
    expect(toNanos(Usd.make(1.000_000_000_1))).toBe(1_000_000_001)
    expect(fromNanos(250_000_000)).toBe(0.25)
  })

  it("is written with 2 or 4 decimals", () => {
    expect([formatUsd(amount, 2), formatUsd(Usd.make(0.01234), 4)]).toEqual(["0.50", "0.0123"])
  })

  it("is finite, and a price at least 0", () => {
    for (const number of [Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => Usd.make(number)).toThrow("Schema validation failed")
      expect(() => UsdPerMillionTokens.make(number)).toThrow("Schema validation failed")
    }
    expect(() => UsdPerMillionTokens.make(-1)).toThrow("Schema validation failed")
  })

  it("is not mixed with other numbers", () => {
    const tokens = 1000
    // @ts-expect-error a count of tokens is not an amount
    addUsd(amount, tokens)
    // @ts-expect-error a price is not an amount
    addUsd(amount, price)
    // @ts-expect-error an amount is not a price
    tokenCost([[tokens, amount]])
    // @ts-expect-error a sum of amounts by `+` is a number
    const sum: Usd = amount + amount
    // @ts-expect-error a cap is money
    const caps: Caps = { perRunUsd: tokens, perRepoDailyUsd: undefined }
    // @ts-expect-error a reservation is of money
    const reserved: Pick<Reservation, "usd"> = { usd: tokens }
    // @ts-expect-error so is one in the ledger
    const stored: Pick<LedgerReservation, "usd"> = { usd: tokens }
    expect([sum, caps.perRunUsd, reserved.usd, stored.usd]).toEqual([1, tokens, tokens, tokens])
  })
})
