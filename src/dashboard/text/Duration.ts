/** Shows durations. Pure. */
import type { PageKey } from "../../text/Render.ts"

/** A unit of durations. Its name in a language is the text of this key. */
type DurationUnit = PageKey extends infer Key ? (Key extends `unit.${infer Unit}` ? Unit : never) : never

/** Two units at most: `1 h 5 min`, `12.3 s`, `340 ms`. Each is rounded before its unit is selected: 59.96 seconds are a minute. */
export const describeDuration = (millis: number | null | undefined, name: (unit: DurationUnit) => string): string => {
  if (millis === null || millis === undefined) return "–"
  if (Math.round(millis) < 1000) return `${Math.round(millis)} ${name("ms")}`
  const tenths = Math.round(millis / 100)
  if (tenths < 600) return `${(tenths / 10).toFixed(1)} ${name("s")}`
  const two = (large: number, largeUnit: DurationUnit, small: number, smallUnit: DurationUnit) =>
    `${large} ${name(largeUnit)} ${small} ${name(smallUnit)}`
  const seconds = Math.round(millis / 1000)
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return two(minutes, "min", seconds % 60, "s")
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? two(hours, "h", minutes % 60, "min") : two(Math.floor(hours / 24), "d", hours % 24, "h")
}
