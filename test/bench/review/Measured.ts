/** Times one review of a change, and counts what it cost and read. */
import { encode } from "gpt-tokenizer/encoding/o200k_base"
import { git } from "../../../demo/DemoForgeGit.ts"
import type { DemoPull } from "../../../demo/DemoForgeState.ts"
import type { ChangeSize } from "../../harness/GeneratedChanges.ts"
import { readShownChange } from "../../harness/SeededFaults.ts"
import type { ShownChange } from "../../harness/SeededFaults.ts"
import { TimedInstallation } from "../../harness/TimedInstallation.ts"
import type { TimedInstallationOptions } from "../../harness/TimedInstallation.ts"
import type { TimedCall } from "../../harness/TimedModel.ts"
import { waitUntil } from "../../harness/Wait.ts"

export interface MeasuredReview {
  /** Time from the webhook to the comments, in the model's time; infinite if none were posted. */
  readonly seconds: number
  readonly calls: number
  /** Input of all calls, divided by the tokens of the diff. */
  readonly ratio: number
  /** The same with cached tokens at a tenth. */
  readonly weightedRatio: number
  /** Part of the input that came from the prompt cache. */
  readonly cachedShare: number
  /** Part of the input that an earlier call had sent which came from the prompt cache. */
  readonly cachedAgainShare: number
  /** Part of the added lines that were shown for review. */
  readonly readShare: number
  /** Part of the seeded faults that were commented on. */
  readonly foundShare: number
  /** Part of the comments that are on the line of a seeded fault. */
  readonly lineAccuracy: number
}

/** Limit of concurrent calls of a provider of this size. */
export const manyCalls = 16

export const readDiff = ({ repository, base, head }: DemoPull): Promise<string> =>
  git(repository.directory, ["diff", "--no-color", `${base}...${head}`])

const sum = (calls: ReadonlyArray<TimedCall>, of: (call: TimedCall) => number): number =>
  calls.reduce((total, call) => total + of(call), 0)

const isCharged = ({ outcome }: TimedCall): boolean => outcome !== "throttled" && outcome !== "unavailable"

export const measureReview = async (
  size: ChangeSize,
  options: Omit<TimedInstallationOptions, "baseFiles">
): Promise<MeasuredReview> => {
  const factor = options.model.factor ?? 1
  await using at = await TimedInstallation.start({
    ...options,
    baseFiles: size.files,
    model: { maxConcurrent: manyCalls, ...options.model }
  })
  const pull = await at.open("change", size)
  const diff = await readDiff(pull)
  const began = performance.now()
  await at.forge.notify(pull, "opened")
  await waitUntil(() => at.hasEnded(pull), { timeout: 900_000, describe: () => at.aicr.log.slice(-4000) })
  const calls = at.model.calls.filter(isCharged)
  const seconds = ((at.postedAt(pull) ?? Number.POSITIVE_INFINITY) - began) / 1000 / factor
  return { seconds, ...counted(calls, diff), ...judged(pull, calls, readShownChange(diff)) }
}

/** Counts the tokens of lines that an earlier call had sent after the same line, at any place of the prompt. */
const countRepeated = (calls: ReadonlyArray<TimedCall>): number => {
  const sent = new Set<string>()
  return sum(calls, ({ prompt }) => {
    const lines = prompt.split("\n")
    const pairs = lines.map((line, at) => `${lines[at - 1] ?? ""}\n${line}`)
    const again = lines.filter((_, at) => sent.has(pairs[at] ?? ""))
    for (const pair of pairs) sent.add(pair)
    return encode(again.join("\n")).length
  })
}

const counted = (calls: ReadonlyArray<TimedCall>, diff: string) => {
  const own = encode(diff).length
  const input = sum(calls, (call) => call.input)
  const cached = sum(calls, (call) => call.cached)
  const repeated = countRepeated(calls)
  return {
    calls: calls.length,
    ratio: input / own,
    weightedRatio: (input - 0.9 * cached) / own,
    cachedShare: input === 0 ? 0 : cached / input,
    cachedAgainShare: repeated === 0 ? 0 : cached / repeated
  }
}

const judged = (pull: DemoPull, calls: ReadonlyArray<TimedCall>, seeded: ShownChange) => {
  const shown = new Set(calls.filter(({ outcome }) => outcome === "responded").flatMap((call) => call.shown))
  const faults = new Set(seeded.faults.map(({ file, line }) => `${file}:${line}`))
  const comments = new Set(pull.reviews.flatMap((review) => review.comments.map(({ path, line }) => `${path}:${line}`)))
  const right = [...comments].filter((comment) => faults.has(comment)).length
  return {
    readShare: seeded.added.filter((line) => shown.has(line)).length / seeded.added.length,
    foundShare: right / faults.size,
    lineAccuracy: comments.size === 0 ? 1 : right / comments.size
  }
}
