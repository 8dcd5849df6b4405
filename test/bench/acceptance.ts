/**
 * Measures a floor of acceptance (`review.acceptance_floor`, 0.2) in simulated repositories: accepted findings that are still shown, compared with
 * an oracle that has the hidden shares; unwanted ones that are folded; findings of a kind until it is folded, and until it is shown again after
 * a drift; folded critical findings; and decisions that authors and sock puppets change. A period of a kind that the simulation ends within 120
 * findings is not measured.
 *
 * `AICR_BENCH_REPOSITORIES` and `AICR_BENCH_CHANGES` set their numbers.
 */
import { simulateRepository, SimulatedRecords } from "../review/SimulatedAcceptance.ts"
import type { SimulatedFigures } from "../review/SimulatedAcceptance.ts"
import { printFigures } from "./PrintFigures.ts"
import type { Goals } from "./PrintFigures.ts"

const repositories = Number(process.env["AICR_BENCH_REPOSITORIES"] ?? 20)
const changes = Number(process.env["AICR_BENCH_CHANGES"] ?? 1600)
/** Repositories that are simulated a second time, with sock puppets. */
const attackedRepositories = Math.min(5, repositories)

const simulateAll = async (count: number, puppets: boolean): Promise<ReadonlyArray<SimulatedFigures>> => {
  await using records = new SimulatedRecords()
  const all: Array<SimulatedFigures> = []
  for (let seed = 1; seed <= count; seed++) {
    all.push(await simulateRepository({ seed, changes, puppets }, records))
    process.stderr.write(`${seed} of ${count} repositories${puppets ? " with sock puppets" : ""}\n`)
  }
  return all
}

const sum = (all: ReadonlyArray<SimulatedFigures>, value: (one: SimulatedFigures) => number): number =>
  all.reduce((total, one) => total + value(one), 0)
const share = (part: number, whole: number): number => Number((whole === 0 ? 1 : part / whole).toFixed(4))
const p90 = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * 0.9) - 1] ?? 0

const goals: Goals = {
  kept_accepted_share: "at least 0.9",
  findings_until_folded_p90: "at most 150",
  findings_until_recovered_p90: "at most 100",
  critical_folded: "0",
  sock_puppet_effect: "0"
}

export const acceptance = {
  name: "acceptance",
  summary:
    "findings that are shown and folded in 20 simulated repositories with hidden acceptance, drift and sock puppets",
  run: async (_options: { readonly json: boolean }): Promise<Record<string, number>> => {
    const all = await simulateAll(repositories, false)
    const attacked = await simulateAll(attackedRepositories, true)
    const folded = all.flatMap(({ untilFolded }) => untilFolded)
    const recovered = all.flatMap(({ untilRecovered }) => untilRecovered)
    const figures = {
      repositories,
      findings: sum(all, (one) => one.findings),
      kept_accepted_share: share(
        sum(all, (one) => one.acceptedShown),
        sum(all, (one) => one.accepted)
      ),
      unwanted_folded_share: share(
        sum(all, (one) => one.unwantedFolded),
        sum(all, (one) => one.unwanted)
      ),
      kinds_folded: folded.length,
      findings_until_folded_p90: p90(folded),
      kinds_recovered: recovered.length,
      findings_until_recovered_p90: p90(recovered),
      critical_folded: sum(all, (one) => one.criticalFolded),
      sock_puppet_effect: attacked.filter(({ decisions }, at) => decisions !== all[at]?.decisions).length
    }
    printFigures(figures, goals)
    return figures
  }
}
