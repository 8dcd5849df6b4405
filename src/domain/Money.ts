/**
 * Money in US dollars. Amounts and prices are types of their own, so that no count of tokens and no other number passes for one. Stores and
 * messages hold plain numbers, which become amounts where they are decoded.
 */
import { Brand, Schema } from "effect"

/** An amount in US dollars. */
export const Usd = Schema.Finite.pipe(Schema.brand("Usd"))
export type Usd = typeof Usd.Type

/** A price in US dollars per million tokens. */
export const UsdPerMillionTokens = Schema.Finite.check(Schema.isGreaterThanOrEqualTo(0)).pipe(
  Schema.brand("UsdPerMillionTokens")
)
export type UsdPerMillionTokens = typeof UsdPerMillionTokens.Type

/** Makes an amount without a check: a sum that is too large for a number becomes infinite, which exceeds every cap. */
const computed = Brand.nominal<Usd>()

export const noMoney: Usd = computed(0)

export const addUsd = (a: Usd, b: Usd): Usd => computed(a + b)

export const subtractUsd = (a: Usd, b: Usd): Usd => computed(a - b)

export const exceeds = (amount: Usd, cap: Usd): boolean => amount > cap

/** Returns what the tokens cost together, each count at its own price. */
export const tokenCost = (counts: ReadonlyArray<readonly [tokens: number, price: UsdPerMillionTokens]>): Usd =>
  computed(counts.reduce((sum, [tokens, price]) => sum + tokens * price, 0) / 1_000_000)

/** Returns digits only, without a currency sign. */
export const formatUsd = (amount: Usd, decimals: 2 | 4): string => amount.toFixed(decimals)

const nanosPerUsd = 1e9

/** Returns whole billionths of a US dollar, rounded up: what stores hold. */
export const toNanos = (amount: Usd): number => Math.ceil(amount * nanosPerUsd)

/** The reverse of `toNanos`. */
export const fromNanos = (nanos: number): Usd => computed(nanos / nanosPerUsd)
