/**
 * Outcomes of findings at the end of generated changes, most of them in git repositories, where the end is a merge commit, a squashed commit or
 * the last of rebased ones, and a tenth in depots of Perforce, half of them in shelves: the share that is what happened, and the time from the end of a change to its
 * outcomes, without the interval of the poll.
 *
 * `AICR_BENCH_CHANGES` sets the number of changes.
 */
import { settleHistories } from "../engine/SettleHistories.ts"
import { printFigures } from "./PrintFigures.ts"
import type { Goals } from "./PrintFigures.ts"

const changes = Number(process.env["AICR_BENCH_CHANGES"] ?? 2000)

const goals: Goals = { right_share: "at least 0.995", settle_p99_s: "at most 60" }

export const outcomes = {
  name: "outcomes",
  summary:
    "outcomes of findings at the end of 2000 generated changes in git and Perforce: share that is right, and time",
  run: async (_options: { readonly json: boolean }): Promise<Record<string, number>> => {
    const inGit = Math.ceil(changes * 0.9)
    const git = await settleHistories("git", 1, inGit)
    const submitted = Math.ceil((changes - inGit) / 2)
    const perforce = await settleHistories("perforce", inGit + 1, submitted)
    const shelves = await settleHistories("shelf", inGit + submitted + 1, changes - inGit - submitted)
    const all = [...git.settled, ...perforce.settled, ...shelves.settled]
    const seconds = [...git.seconds, ...perforce.seconds, ...shelves.seconds].toSorted((a, b) => a - b)
    const wrong = all.filter(({ state, truth }) => state !== truth)
    for (const { event, seed, state, truth } of wrong.slice(0, 20))
      process.stderr.write(`${seed}: ${event} is ${state} instead of ${truth}\n`)
    const figures = {
      changes,
      findings: all.length,
      right_share: Number(((all.length - wrong.length) / Math.max(1, all.length)).toFixed(4)),
      settle_p50_s: Number((seconds[Math.floor(seconds.length * 0.5)] ?? 0).toFixed(3)),
      settle_p99_s: Number((seconds[Math.floor(seconds.length * 0.99)] ?? 0).toFixed(3))
    }
    printFigures(figures, goals)
    return figures
  }
}
