/**
 * Reviews of generated changes that are pushed to, rebased and read again, with a model that invents new plausible findings about whatever it sees,
 * and with planted faults: late findings below high that got a comment, an issue or a message; planted faults that were published in the round
 * that has them; rounds without new faults in which nothing was posted; and tokens of the prompts of later rounds, compared with the same
 * prompts without what is remembered.
 *
 * `AICR_BENCH_CHANGES` sets the number of changes.
 */
import { addFigures, simulateRounds } from "../engine/SimulatedRounds.ts"
import type { RoundFigures } from "../engine/SimulatedRounds.ts"
import { printFigures } from "./PrintFigures.ts"
import type { Goals } from "./PrintFigures.ts"

const changes = Number(process.env["AICR_BENCH_CHANGES"] ?? 200)
const roundsPerChange = 8
const atOnce = 2

const simulateAll = async (): Promise<RoundFigures> => {
  const all: Array<RoundFigures> = []
  let next = 1
  const work = async () => {
    while (next <= changes) {
      all.push(await simulateRounds(next++, roundsPerChange))
      if (all.length % 20 === 0) process.stderr.write(`${all.length} of ${changes} changes\n`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return addFigures(all)
}

const shareOf = (part: number, whole: number): number => Number((whole === 0 ? 1 : part / whole).toFixed(4))

const goals: Goals = {
  late_published_below_high: "0",
  planted_new_published: "1",
  silent_when_clean: "1",
  tokens_ratio: "at most 1.1"
}

export const rounds = {
  name: "rounds",
  summary:
    "late, planted and clean rounds of 200 generated changes with a model that invents findings; tokens of what is remembered",
  run: async (_options: { readonly json: boolean }): Promise<Record<string, number>> => {
    const sum = await simulateAll()
    const figures = {
      changes,
      rounds: sum.rounds,
      invented: sum.invented,
      late_published_below_high: sum.latePublished,
      planted: sum.planted,
      planted_new_published: shareOf(sum.plantedPublished, sum.planted),
      clean_rounds: sum.clean,
      silent_when_clean: shareOf(sum.silent, sum.clean),
      tokens_ratio: shareOf(sum.tokens, sum.tokensBefore)
    }
    printFigures(figures, goals)
    return figures
  }
}
