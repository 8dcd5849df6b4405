/**
 * Replies to comments at GitHub, whose requests take 100 ms, while reviews that never end hold every slot: milliseconds from a delivery to the
 * reaction that shows that it was read, and to the reply without the time of the model, and requests to the host per reply. Then at Gitea the
 * process is killed at writes of replies: questions with two replies, and without one.
 *
 * `AICR_BENCH_QUESTIONS` and `AICR_BENCH_KILLS` set their numbers.
 */
import type { Fault } from "../../demo/DemoForge.ts"
import { getConversations } from "../harness/FakeHostConversations.ts"
import { startReviewed, writeComment } from "../harness/ReviewedChange.ts"
import { waitUntil } from "../harness/Wait.ts"
import { printFigures } from "./PrintFigures.ts"
import type { Goals } from "./PrintFigures.ts"

const questions = Number(process.env["AICR_BENCH_QUESTIONS"] ?? 40)
const kills = Number(process.env["AICR_BENCH_KILLS"] ?? 200)
const modelMillis = 500
const hostMillis = 100
const slots = 2

const percentile95 = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.95) - 1] ?? Number.NaN

const measureReplies = async () => {
  const workers = { concurrency: slots, per_workspace_concurrency: slots }
  const { comment, describe, forge, pull, replies, repository, stop } = await startReviewed("github", {
    modelMillis,
    workers
  })
  for (let n = 0; n < slots; n++) {
    const branch = `endless-${n}`
    await forge.push("team/one", {
      branch,
      from: "main",
      message: branch,
      files: { "other.ts": `export const n = ${n}\n` }
    })
    const other = await forge.createPull("team/one", { title: branch, headBranch: branch })
    await forge.notify(other, "opened")
    await waitUntil(() => repository.statuses.get(other.head) !== undefined, { timeout: 30_000, describe })
  }
  forge.intercept((): Fault => ({ kind: "slow", millis: hostMillis }))
  const before = forge.requests.length
  const acks: Array<number> = []
  const overheads: Array<number> = []
  for (let n = 0; n < questions; n++) {
    const began = performance.now()
    const said = replies().length
    const id = await writeComment(forge, pull, "ada", `Why is that, in case ${n}?`, comment)
    const wait = { timeout: 30_000, interval: 5, describe }
    await waitUntil(() => getConversations(repository).reactions.some((one) => one.comment === id), wait)
    acks.push(performance.now() - began)
    await waitUntil(() => replies().length > said, wait)
    overheads.push(performance.now() - began - modelMillis)
  }
  const requests = (forge.requests.length - before) / questions
  await stop()
  return { ack: percentile95(acks), overhead: percentile95(overheads), requests }
}

const countKilled = async () => {
  const { aicr, comment, describe, forge, pull, replies, settled, stop } = await startReviewed("gitea")
  for (let n = 0; n < kills; n++) {
    // A write that belongs to the question before would end the process before this one is stored.
    await settled()
    const said = replies().length
    const struck = Promise.withResolvers<void>()
    let writes = 0
    forge.intercept(({ method }): Fault | undefined => {
      if (method !== "POST" || writes++ !== n % 2) return undefined
      void aicr.kill().then(() => struck.resolve())
      return { kind: n % 4 < 2 ? "cut" : "lost" }
    })
    // The process may be killed before its response arrives; the receipt is stored by then.
    await writeComment(forge, pull, "ada", `Why is that, in case ${n}?`, comment).catch(() => undefined)
    await struck.promise
    await aicr.start()
    await waitUntil(() => replies().length > said, { timeout: 60_000, describe })
  }
  const asked = new Map<string, number>()
  for (const { body } of replies()) {
    const scope = /"scope":"([^"]*)"/.exec(body)?.[1] ?? body
    asked.set(scope, (asked.get(scope) ?? 0) + 1)
  }
  await stop()
  return { doubled: [...asked.values()].filter((count) => count > 1).length, lost: kills - asked.size }
}

const goals: Goals = {
  ack_p95_ms: "at most 2000",
  reply_overhead_ms: "at most 1000",
  doubled: "0",
  lost: "0"
}

export const conversation = {
  name: "conversation",
  summary:
    "replies to comments while reviews hold every slot: delay, overhead, requests; doubled and lost ones over 200 kills",
  run: async (_options: { readonly json: boolean }): Promise<Record<string, number>> => {
    const { ack, overhead, requests } = await measureReplies()
    const { doubled, lost } = await countKilled()
    const figures = {
      questions,
      ack_p95_ms: Math.round(ack),
      reply_overhead_ms: Math.round(overhead),
      requests_per_reply: Number(requests.toFixed(2)),
      kills,
      doubled,
      lost
    }
    printFigures(figures, goals)
    return figures
  }
}
