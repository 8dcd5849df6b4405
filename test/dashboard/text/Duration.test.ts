/** Tests durations as pages show them, above all where rounding reaches the next unit. */
import { expect, it } from "vitest"
import { describeDuration } from "../../../src/dashboard/text/Duration.ts"
import { zh } from "../../../src/text/zh.ts"

const formatDuration = (millis: number | null) => describeDuration(millis, (unit) => unit)

it.each([
  [null, "–"],
  [0, "0 ms"],
  [999.4, "999 ms"],
  [999.6, "1.0 s"],
  [12_340, "12.3 s"],
  [59_949, "59.9 s"],
  [59_951, "1 min 0 s"],
  [119_700, "2 min 0 s"],
  [3_599_400, "59 min 59 s"],
  [3_599_600, "1 h 0 min"],
  [3_900_000, "1 h 5 min"],
  [172_799_000, "47 h 59 min"],
  [172_800_000, "2 d 0 h"]
])("%s ms are %s", (millis, shown) => {
  expect(formatDuration(millis)).toBe(shown)
})

it("no second reaches 60, and no minute", () => {
  const shown = Array.from({ length: 160_000 }, (_, step) => formatDuration(step * 50))
  expect(shown.filter((text) => /\b60(?:\.0)? s$|\b60 min|\b1000 ms/.test(text))).toEqual([])
})

it("units are those of the language", () => {
  const chinese = (millis: number) => describeDuration(millis, (unit) => zh.keys[`unit.${unit}`])
  expect([340, 12_300, 3_900_000, 176_400_000].map(chinese)).toEqual([
    "340 毫秒",
    "12.3 秒",
    "1 小时 5 分钟",
    "2 天 1 小时"
  ])
})
