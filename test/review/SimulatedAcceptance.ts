/**
 * Simulated repositories whose people accept a hidden share of each kind of finding, which drifts in the middle. Findings are published or
 * folded by what became of earlier ones, and an oracle that has the hidden shares folds exactly the kinds below the floor. Authors and sock
 * puppets do what they may: merge without a maintainer, close, dismiss without the permission, reply, and repair their own faults, until the
 * end of their changes is decided about as that of every other one.
 */
import { createHash } from "node:crypto"
import { Effect, Layer, ManagedRuntime } from "effect"
import { SqlClient } from "effect/sql"
import type { Acceptance } from "../../src/domain/Acceptance.ts"
import { settleOutcome, withReaction } from "../../src/domain/FindingOutcome.ts"
import type { OutcomeRecord } from "../../src/domain/FindingOutcome.ts"
import type { JudgedCounts, JudgedFinding } from "../../src/domain/JudgedFinding.ts"
import type { Severity } from "../../src/domain/Kinds.ts"
import type { Finding } from "../../src/domain/Problem.ts"
import { estimateAcceptance } from "../../src/review/Acceptance.ts"
import { foldFindings } from "../../src/review/FoldFindings.ts"
import { Outcomes } from "../../src/store/Outcomes.ts"
import * as Store from "../../src/store/StoreLayer.ts"

const floor = 0.2
const model = "fake/model"

interface SimulatedOutcome
  extends
    Pick<
      OutcomeRecord,
      "category" | "dismissedBy" | "fingerprint" | "mergedBy" | "outcome" | "path" | "severity" | "title"
    >,
    Pick<JudgedFinding, "model" | "targetKey"> {}

/** Records outcomes in a database in memory, and reads those that count. */
export class SimulatedRecords implements AsyncDisposable {
  readonly #runtime = ManagedRuntime.make(Layer.fresh(Store.layerMemory))
  #written = 0
  #estimates = 0
  #everywhere: ReadonlyArray<JudgedCounts> = []

  write(repository: string, outcomes: ReadonlyArray<SimulatedOutcome>): Promise<void> {
    const first = this.#written
    this.#written += outcomes.length
    const row = (outcome: SimulatedOutcome, at: number) => ({
      target_key: outcome.targetKey,
      fingerprint: outcome.fingerprint,
      category: outcome.category,
      severity: outcome.severity,
      model: outcome.model,
      path: outcome.path,
      title: outcome.title,
      outcome: outcome.outcome,
      dismissed_by: outcome.dismissedBy ?? null,
      merged_by: outcome.mergedBy ?? null,
      settled: outcome.mergedBy === undefined ? "closed" : "merged",
      decided_at: first + at,
      repository,
      agent: "native-llm",
      head: "head",
      replied: 0,
      restricted: 0,
      project: "project",
      found_in: "run",
      found_at: first + at,
      decided_in: "run"
    })
    const insert = Effect.fnUntraced(function* () {
      const sql = yield* SqlClient.SqlClient
      for (const [at, outcome] of outcomes.entries())
        yield* sql`INSERT INTO finding_outcomes ${sql.insert(row(outcome, at))}`
    })
    return this.#runtime.runPromise(insert())
  }

  /** The counts of all repositories change slowly, and are read for every twentieth estimate. */
  estimate(repository: string): Promise<Acceptance> {
    return this.#runtime.runPromise(
      Outcomes.use(({ judged, judgedEverywhere }) =>
        Effect.gen({ self: this }, function* () {
          if (this.#estimates++ % 20 === 0) this.#everywhere = yield* judgedEverywhere
          return estimateAcceptance(yield* judged(repository), this.#everywhere, floor, 0)
        })
      )
    )
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#runtime.dispose()
  }
}

/** A kind of finding. */
interface Kind {
  readonly category: string
  readonly severity: Severity
  readonly weight: number
  /** Hidden share of findings that people accept. */
  share: number
  /** Whether each finding since the last drift was of a folded kind. */
  folded: Array<boolean>
  isRecovering: boolean
}

export interface SimulatedFigures {
  readonly findings: number
  readonly criticalFolded: number
  /** Accepted findings of kinds that the oracle shows, and those of them that were shown. */
  readonly accepted: number
  readonly acceptedShown: number
  /** Findings of kinds that the oracle folds and that are not accepted, and those of them that were folded. */
  readonly unwanted: number
  readonly unwantedFolded: number
  /** Findings of a kind until it was folded, from the beginning or from a drift, and from a drift until it was shown again. */
  readonly untilFolded: ReadonlyArray<number>
  readonly untilRecovered: ReadonlyArray<number>
  /** Digest of all decisions. */
  readonly decisions: string
}

const makeRandom = (seed: number) => {
  let state = (seed * 2_654_435_761) % 2_147_483_647 || 1
  return (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
}
type Random = ReturnType<typeof makeRandom>

const categories = ["correctness", "security", "performance", "error-handling", "testing", "maintainability"]
const severities: ReadonlyArray<Severity> = ["low", "medium", "high"]
const drawNoise = (random: Random) => 0.01 + random() * 0.11
const drawUseful = (random: Random) => 0.35 + random() * 0.6
/** Most kinds are noise or useful; one in eight is close to the floor, on both sides. */
const drawShare = (random: Random): number => {
  const one = random()
  return one < 0.4 ? drawNoise(random) : one < 0.52 ? 0.12 + random() * 0.23 : drawUseful(random)
}
const digest = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 32)

/** Shares that every second kind of the repositories has in common. */
const common = (() => {
  const random = makeRandom(77)
  return new Map(
    categories.flatMap((category) => severities.map((severity) => [`${category} ${severity}`, drawShare(random)]))
  )
})()

/** Changes until the outcome of a finding is on record, and those that one estimate serves. */
const maxDelay = 8
const perEstimate = 1
/** Findings that have to be treated alike after a kind is folded or shown again, and the minimum length of a measured period. */
const settled = 20
const minPeriod = 100

interface Settings {
  readonly seed: number
  readonly changes: number
  readonly puppets: boolean
}

class SimulatedRepository {
  readonly #name: string
  readonly #kinds: ReadonlyArray<Kind>
  readonly #settings: Settings
  readonly #records: SimulatedRecords
  /** Randomness of the repository, and of attackers, so that both simulations have the same changes. */
  readonly #random: Random
  readonly #hostile: Random
  #waiting: Array<{ readonly due: number; readonly outcomes: ReadonlyArray<SimulatedOutcome> }> = []
  readonly #counts = { findings: 0, criticalFolded: 0, accepted: 0, acceptedShown: 0, unwanted: 0, unwantedFolded: 0 }
  readonly #untilFolded: Array<number> = []
  readonly #untilRecovered: Array<number> = []
  readonly #decisions = createHash("sha256")

  constructor(settings: Settings, records: SimulatedRecords) {
    this.#name = `main:team/app${settings.seed}`
    this.#settings = settings
    this.#records = records
    this.#random = makeRandom(settings.seed)
    this.#hostile = makeRandom(settings.seed + 1000)
    this.#kinds = categories.flatMap((category) =>
      severities
        .filter(() => this.#random() < 0.6)
        .map((severity): Kind => {
          const own = drawShare(this.#random)
          const share = this.#random() < 0.5 ? (common.get(`${category} ${severity}`) ?? own) : own
          return { category, severity, weight: 0.3 + this.#random(), share, folded: [], isRecovering: false }
        })
    )
  }

  async run(): Promise<SimulatedFigures> {
    const { changes, puppets } = this.#settings
    let acceptance = await this.#records.estimate(this.#name)
    for (let at = 0; at < changes; at++) {
      if (at === Math.floor(changes / 2)) this.#drift()
      const due = this.#waiting.filter((one) => one.due <= at)
      this.#waiting = this.#waiting.filter((one) => one.due > at)
      await this.#records.write(this.#name, [
        ...due.flatMap(({ outcomes }) => outcomes),
        ...(puppets ? this.#attack(at) : [])
      ])
      if (at % perEstimate === 0) acceptance = await this.#records.estimate(this.#name)
      this.#review(at, acceptance)
    }
    for (const kind of this.#kinds) this.#endPeriod(kind)
    return {
      ...this.#counts,
      untilFolded: this.#untilFolded,
      untilRecovered: this.#untilRecovered,
      decisions: this.#decisions.digest("hex")
    }
  }

  #pick(): Kind | undefined {
    let left = this.#random() * this.#kinds.reduce((sum, { weight }) => sum + weight, 0)
    return this.#kinds.find(({ weight }) => (left -= weight) < 0)
  }

  #review(at: number, acceptance: Acceptance): void {
    const isMerged = this.#random() < 0.85
    const outcomes: Array<SimulatedOutcome> = []
    for (let left = 1 + Math.floor(this.#random() * 4); left > 0; left--) {
      const kind = this.#pick()
      if (kind === undefined) continue
      const isCritical = this.#random() < 0.04
      const isAccepted = this.#random() < kind.share
      const isDismissed = this.#random() < 0.4
      const severity = isCritical ? "critical" : kind.severity
      const title = titleOf(kind, Math.floor(this.#random() * 90))
      const path = `src/part${at % 7}.ts`
      const fingerprint = digest(`${this.#name} ${this.#counts.findings++}`)
      const problem = { file: path, severity, category: kind.category, title, message: title }
      const { folded, shown } = foldFindings([{ fingerprint, problem }], { acceptance, model, published: [] })
      this.#decisions.update(folded.length === 1 ? "f" : "s")
      this.#count(kind, isCritical, isAccepted, folded.length === 1, shown)
      if (folded.length === 1) continue
      outcomes.push({
        targetKey: `${this.#name}#${at}`,
        fingerprint,
        category: kind.category,
        severity,
        model,
        path,
        title,
        outcome: isAccepted ? "fixed" : isDismissed ? "dismissed" : "open_at_merge",
        ...(isMerged ? { mergedBy: "maintainer" } : {}),
        ...(isMerged && !isAccepted && isDismissed ? { dismissedBy: "maintainer" } : {})
      })
    }
    this.#waiting.push({ due: at + 1 + Math.floor(this.#random() * maxDelay), outcomes })
  }

  #count(kind: Kind, isCritical: boolean, isAccepted: boolean, isFolded: boolean, shown: ReadonlyArray<Finding>): void {
    const counts = this.#counts
    if (isCritical) {
      if (isFolded) counts.criticalFolded++
      return
    }
    kind.folded.push(isFolded || shown.some(({ probe }) => probe === true))
    if (isAccepted && kind.share >= floor) {
      counts.accepted++
      if (!isFolded) counts.acceptedShown++
    }
    if (!isAccepted && kind.share < floor) {
      counts.unwanted++
      if (isFolded) counts.unwantedFolded++
    }
  }

  /** Every second kind becomes noise if it was shown, and useful if it was noise. */
  #drift(): void {
    for (const kind of this.#kinds.filter((_, at) => at % 2 === 0)) {
      this.#endPeriod(kind)
      kind.isRecovering = kind.share < floor
      kind.share = kind.isRecovering ? drawUseful(this.#random) : drawNoise(this.#random)
      kind.folded = []
    }
  }

  /** Measures a period without drift: after how many findings of the kind nine of ten of the next ones were treated as they should be. */
  #endPeriod({ folded, isRecovering, share }: Kind): void {
    const isLow = share < floor
    const last = folded.length - settled
    if ((!isLow && !isRecovering) || last < minPeriod) return
    let at = 0
    while (at < last && folded.slice(at, at + settled).filter((one) => one === isLow).length < 0.9 * settled) at++
    ;(isLow ? this.#untilFolded : this.#untilRecovered).push(at)
  }

  #attack(at: number): ReadonlyArray<SimulatedOutcome> {
    const pick = <A>(all: ReadonlyArray<A>): A | undefined => all[Math.floor(this.#hostile() * all.length)]
    return this.#kinds.map((kind, index) => {
      const open: OutcomeRecord = {
        fingerprint: digest(`${this.#name} puppet ${at} ${index}`),
        category: kind.category,
        severity: kind.severity,
        path: "src/part0.ts",
        title: titleOf(kind, index),
        head: "head",
        outcome: "open",
        replied: false
      }
      const by = pick(["author", "other"] as const) ?? "other"
      const isDismissed = this.#hostile() < 0.3
      const replied = this.#hostile() < 0.3
      const reaction = { fp: open.fingerprint, dismissed: isDismissed, replied, ...(isDismissed ? { by } : {}) }
      const reacted = withReaction(open, reaction)
      const state = isDismissed ? reacted.outcome : (pick(["open", "fixed", "partly", "moved_away"] as const) ?? "open")
      // A maintainer may merge what its author dismissed.
      const mergedBy = isDismissed && this.#hostile() < 0.5 ? "maintainer" : by
      const end = pick(["merged", "closed"] as const) ?? "closed"
      const settledRecord = settleOutcome(reacted, state, { end, head: "end", baseRef: "main", mergedBy }, at)
      return { ...settledRecord, model, targetKey: `${this.#name}#puppet${at}` }
    })
  }
}

const titleOf = ({ category }: Kind, id: number): string => {
  const what = ["Missing", "Wrong", "Unclear", "Slow", "Unsafe"][id % 5]
  const where = ["before return", "after await", "around retry"][id % 3]
  return `${what} ${["check", "name", "loop", "cache", "branch", "result"][id % 6]} ${where} ${category}`
}

export const simulateRepository = (settings: Settings, records: SimulatedRecords): Promise<SimulatedFigures> =>
  new SimulatedRepository(settings, records).run()
