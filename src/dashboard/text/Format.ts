/** Formats numbers, amounts and times for the selected language and the time zone of the viewer. */
import { currentLanguage } from "./T.ts"

const cached = <A>(make: (language: string) => A): (() => A) => {
  const made = new Map<string, A>()
  return () => {
    const language = currentLanguage()
    const found = made.get(language) ?? make(language)
    made.set(language, found)
    return found
  }
}

const integers = cached((language) => new Intl.NumberFormat(language))
const short = cached((language) => new Intl.NumberFormat(language, { notation: "compact", maximumFractionDigits: 1 }))
const exact = cached((language) => new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "long" }))
const clock = cached(
  (language) =>
    new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" })
)
const days = cached((language) => new Intl.DateTimeFormat(language, { month: "short", day: "numeric" }))
const relative = cached((language) => new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "narrow" }))
const percents = cached((language) => new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 1 }))

export const formatCount = (value: number): string => integers().format(value)
export const formatShort = (value: number): string =>
  Math.abs(value) < 10_000 ? formatCount(value) : short().format(value)
export const formatRate = (value: number | null): string => (value === null ? "–" : percents().format(value))
export const formatExact = (at: string | number): string => exact().format(new Date(at))
export const formatClock = (at: string | number): string => clock().format(new Date(at))
export const formatDay = (at: string | number): string => days().format(new Date(at))

/** Costs below a cent keep two significant digits. */
export const formatUsd = (value: number | null | undefined): string => {
  if (value === null || value === undefined) return "–"
  if (value !== 0 && Math.abs(value) < 0.01) return `$${Number(value.toPrecision(2))}`
  return `$${value.toLocaleString(currentLanguage(), { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`
}

const units = [
  { unit: "day", millis: 86_400_000 },
  { unit: "hour", millis: 3_600_000 },
  { unit: "minute", millis: 60_000 },
  { unit: "second", millis: 1000 }
] as const

export const formatRelative = (at: string | number, now: number): string => {
  const difference = new Date(at).getTime() - now
  const found = units.find(({ millis }) => Math.abs(difference) >= millis)
  return found === undefined
    ? relative().format(0, "second")
    : relative().format(Math.trunc(difference / found.millis), found.unit)
}

export const shortCommit = (commit: string | undefined): string => commit?.slice(0, 8) ?? ""
