/**
 * The user-visible figures of a review, with a slow model (test/harness/TimedModel.ts) and the default configuration: seconds
 * from webhook to comments, tokens, cached tokens, lines read, and reviews lost while the provider throttles. Times are in units
 * of one single call with the diff of the change of 12 files, made in the same run.
 *
 * `cached_share_many` is the lowest share among the reviews of more than three calls: of the input that a review sends again (lines that
 * an earlier call had sent after the same line), the part that came from the prompt cache. What is sent for the first time cannot come
 * from a cache, and a review that reads everything sends the whole diff once; `cached_share_NAME` is the share of all input.
 *
 * `AICR_BENCH_PARTS` selects parts by their names, separated by commas; `AICR_BENCH_FACTOR` scales the model's times.
 */
import type { DemoPull } from "../../demo/DemoForgeState.ts"
import type { ChangeSize } from "../harness/GeneratedChanges.ts"
import { severities } from "../harness/GeneratedChanges.ts"
import { TimedInstallation } from "../harness/TimedInstallation.ts"
import type { TimedModelOptions } from "../harness/TimedModel.ts"
import { waitUntil } from "../harness/Wait.ts"
import { readDiff, manyCalls, measureReview } from "./review/Measured.ts"
import type { MeasuredReview } from "./review/Measured.ts"

const factor = Number(process.env["AICR_BENCH_FACTOR"] ?? 1)
const tenMinutesFactor = 0.05 * factor
/** Limit of a call without a `timeout_ms`. */
const defaultTimeoutMillis = 300_000
const thinkingMillis = 25_000

const small: ChangeSize = { files: 1, lines: 21, faults: severities(1, 0) }
const few: ChangeSize = { files: 3, lines: 96, faults: severities(2, 1) }
const twelve: ChangeSize = { files: 12, lines: 628, faults: severities(12, 1) }
const severe: ChangeSize = { ...twelve, faults: severities(12, 8) }
const sixty: ChangeSize = { files: 60, lines: 4958, faults: severities(20, 2) }
const fourHundred: ChangeSize = { files: 400, lines: 40_231, faults: severities(40, 4) }

type Figures = Record<string, number>

const writeLine = (text: string): void => void process.stderr.write(`${text}\n`)

/** Seconds of one call with the whole diff, whole tools and no service. */
const measureUnit = async (): Promise<number> => {
  await using at = await TimedInstallation.start({ baseFiles: twelve.files, model: { factor } })
  const diff = await readDiff(await at.open("unit", twelve))
  const tool = (name: string) => ({ type: "function", function: { name, parameters: { type: "object" } } })
  const began = performance.now()
  const response = await fetch(`${at.model.url}/v1/chat/completions`, {
    method: "POST",
    body: JSON.stringify({
      messages: [
        { role: "system", content: "Review the change." },
        { role: "user", content: diff }
      ],
      tools: ["report_problem", "publish_summary"].map(tool)
    })
  })
  await response.text()
  return (performance.now() - began) / 1000 / factor
}

const figuresOf = (name: string, measured: MeasuredReview, unit: number): Figures => ({
  [`latency_units_${name}`]: measured.seconds / unit,
  [`seconds_${name}`]: measured.seconds,
  [`calls_${name}`]: measured.calls,
  [`tokens_ratio_raw_${name}`]: measured.ratio,
  [`tokens_ratio_weighted_${name}`]: measured.weightedRatio,
  [`cached_share_${name}`]: measured.cachedShare,
  [`cached_again_share_${name}`]: measured.cachedAgainShare,
  [`read_share_${name}`]: measured.readShare,
  [`found_share_${name}`]: measured.foundShare,
  [`line_accuracy_${name}`]: measured.lineAccuracy
})

const single =
  (name: string, size: ChangeSize, model: Omit<TimedModelOptions, "factor"> = {}) =>
  async (unit: number): Promise<Figures> =>
    figuresOf(name, await measureReview(size, { model: { ...model, factor } }), unit)

/** Changes of one repository that are opened at the same moment: seconds until the last has its comments. */
const six = async (): Promise<Figures> => {
  await using at = await TimedInstallation.start({
    baseFiles: twelve.files,
    model: { factor, maxConcurrent: manyCalls }
  })
  const pulls: Array<DemoPull> = []
  for (let n = 0; n < 6; n++) pulls.push(await at.open(`change-${n}`, twelve))
  const began = performance.now()
  await Promise.all(pulls.map((pull) => at.forge.notify(pull, "opened")))
  await waitUntil(() => pulls.every((pull) => at.hasEnded(pull)), {
    timeout: 600_000,
    describe: () => at.aicr.log.slice(-4000)
  })
  const times = pulls.map((pull) => (at.postedAt(pull) ?? Number.POSITIVE_INFINITY) - began)
  return { six_in_one_repository_s: Math.max(...times) / 1000 / factor }
}

const repositories = 5
const throttledChanges = 20

/** Returns how many changes never got their comments from a provider with this limit of concurrent calls. */
const lostWith = async (maxConcurrent: number): Promise<number> => {
  await using at = await TimedInstallation.start({
    baseFiles: few.files,
    repositories,
    model: { factor, maxConcurrent }
  })
  const pulls: Array<DemoPull> = []
  for (let n = 0; n < throttledChanges; n++) pulls.push(await at.open(`change-${n}`, few, n % repositories))
  await Promise.all(pulls.map((pull) => at.forge.notify(pull, "opened")))
  const hasEnded = () => pulls.every((pull) => at.hasEnded(pull))
  await waitUntil(hasEnded, { timeout: 600_000, describe: () => "every review ends" }).catch((reason: unknown) =>
    writeLine(String(reason))
  )
  return pulls.filter((pull) => at.postedAt(pull) === undefined).length
}

const throttled = async (): Promise<Figures> => {
  const lost = { 1: await lostWith(1), 2: await lostWith(2), 4: await lostWith(4) }
  return {
    lost_when_throttled: lost[1] + lost[2] + lost[4],
    lost_with_1: lost[1],
    lost_with_2: lost[2],
    lost_with_4: lost[4]
  }
}

/** The response takes ten minutes; the time limit of calls is scaled with it. */
const tenMinutes = async (): Promise<Figures> => {
  const { seconds, calls } = await measureReview(small, {
    model: { factor: tenMinutesFactor, responseMillis: 600_000 },
    provider: { timeout_ms: Math.round(defaultTimeoutMillis * tenMinutesFactor) }
  })
  return { ten_minute_answer_posted: Number.isFinite(seconds) ? 1 : 0, ten_minute_answer_calls: calls }
}

const parts: Readonly<Record<string, (unit: number) => Promise<Figures>>> = {
  small: single("small", small),
  twelve: single("12", twelve),
  severe: single("12_severe", severe),
  reasoning: single("12_reasoning", severe, { thinkingMillis }),
  steps: single("steps", twelve, { oneCallPerStep: true }),
  sixty: single("60", sixty),
  fourhundred: single("400", fourHundred),
  six,
  throttled,
  tenminutes: tenMinutes
}

/** Figures with a target. */
const named = (figures: Figures): Figures => {
  const names = ["12", "12_severe", "12_reasoning", "steps", "60", "400"]
  const shares = names.flatMap((name) =>
    (figures[`calls_${name}`] ?? 0) > 3 ? [figures[`cached_again_share_${name}`] ?? 0] : []
  )
  const pick = (name: string, from: string): Figures => {
    const value = figures[from]
    return value === undefined ? {} : { [name]: value }
  }
  return {
    ...pick("tokens_ratio_12", "tokens_ratio_raw_12"),
    ...pick("tokens_ratio_severe", "tokens_ratio_weighted_12_severe"),
    ...pick("tokens_ratio_steps", "tokens_ratio_raw_steps"),
    ...(shares.length === 0 ? {} : { cached_share_many: Math.min(...shares) })
  }
}

const targets: Readonly<Record<string, string>> = {
  latency_units_12: "at most 0.75",
  latency_units_12_severe: "at most 1",
  latency_units_60: "at most 0.9",
  latency_units_400: "at most 1.8",
  tokens_ratio_12: "at most 1.9",
  tokens_ratio_severe: "at most 2.5",
  tokens_ratio_steps: "at most 15",
  cached_share_many: "at least 0.6",
  read_share_400: "1",
  six_in_one_repository_s: "at most 45",
  lost_when_throttled: "0",
  ten_minute_answer_posted: "1"
}

const report = (figures: Figures): void => {
  for (const [name, value] of Object.entries(figures)) {
    const target = targets[name]
    writeLine(
      `  ${name.padEnd(34)} ${value.toFixed(2).padStart(9)}${target === undefined ? "" : `  (to reach: ${target})`}`
    )
  }
}

const measure = async (): Promise<Figures> => {
  const chosen = process.env["AICR_BENCH_PARTS"]?.split(",") ?? Object.keys(parts)
  const unknown = chosen.filter((name) => parts[name] === undefined)
  if (unknown.length > 0) throw new Error(`no part ${unknown.join(", ")}; there are ${Object.keys(parts).join(", ")}`)
  const unit = await measureUnit()
  const figures: Figures = { unit_s: unit }
  report(figures)
  for (const name of chosen) {
    const measured = (await parts[name]?.(unit)) ?? {}
    report(measured)
    Object.assign(figures, measured)
  }
  const last = named(figures)
  report(last)
  return { ...figures, ...last }
}

export const review = {
  name: "review",
  summary: "seconds, tokens and lines read of reviews with a slow model, and reviews lost to throttling",
  run: measure
}
