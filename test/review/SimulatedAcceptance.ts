/**
 * Simulated repositories whose people accept a hidden share of each kind of finding, which drifts. Findings are published or folded by what
 * earlier ones became, and an oracle that knows the hidden shares folds exactly the kinds below the floor. Authors and sock puppets do what
 * they may: they close changes, merge them without a maintainer, dismiss and repair.
 */
import { createHash } from "node:crypto"
import { Severity } from "../../src/domain/Kinds.ts"
import type { Finding } from "../../src/domain/Problem.ts"
import { estimateGroups, findDismissedWordings, findFoldedKinds } from "../../src/review/Acceptance.ts"
import type { OrganisationCounts } from "../../src/review/Acceptance.ts"
import type { JudgedFinding } from "../../src/domain/JudgedFinding.ts"

export const simulatedFloor = 0.2

/** Reads and writes what became of findings, as the records do. */
export interface OutcomeBook {
  readonly write: (repository: string, outcomes: ReadonlyArray<SimulatedOutcome>) => Promise<void>
  /** Returns what counts: the newest first. */
  readonly judged: (repository: string) => Promise<ReadonlyArray<JudgedFinding>>
  readonly organisation: () => Promise<ReadonlyArray<OrganisationCounts>>
}

export interface SimulatedOutcome extends JudgedFinding {
  readonly fingerprint: string
  readonly outcome: "dismissed" | "fixed" | "open_at_merge" | "open"
  /** Whether the records count it: a maintainer dismissed it, or merged the change. */
  readonly isCounted: boolean
}

export interface AcceptanceFigures {
  readonly findings: number
  readonly criticalFolded: number
  /** Accepted findings that the oracle publishes, and those of them that were published. */
  readonly acceptedByOracle: number
  readonly keptAccepted: number
  /** Findings that nobody would accept and that the oracle folds, and those of them that were folded. */
  readonly unwanted: number
  readonly unwantedFolded: number
  /** Findings of a kind until it was folded, from the beginning or from a drift. */
  readonly untilFolded: ReadonlyArray<number>
  /** Findings of a kind from the drift until it was published again. */
  readonly untilRecovered: ReadonlyArray<number>
  /** Decisions in order, to compare two simulations. */
  readonly decisions: string
}

export const makeRandom = (seed: number) => {
  let state = (seed * 2_654_435_761) % 2_147_483_647 || 1
  return (): number => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647
}

/** A kind of finding with its hidden share. */
interface Kind {
  readonly category: string
  readonly severity: Severity
  readonly weight: number
  share: number
  /** Whether each finding since the last drift was of a folded kind. */
  folded: Array<boolean>
  /** True after a drift from noise. */
  isRecovering: boolean
}

const categories = ["correctness", "security", "performance", "error-handling", "testing", "maintainability"]
const severities: ReadonlyArray<Severity> = ["low", "medium", "high"]
const noisy = (random: () => number) => 0.01 + random() * 0.11
const useful = (random: () => number) => 0.35 + random() * 0.6

/** Most kinds are clearly noise or clearly useful; one in eight is close to the floor. */
const drawShare = (random: () => number): number => {
  const one = random()
  return one < 0.4 ? noisy(random) : one < 0.52 ? 0.12 + random() * 0.23 : useful(random)
}

export interface SimulatedSettings {
  readonly seed: number
  readonly changes: number
  /** Changes of authors and sock puppets between those of the others. */
  readonly puppets: boolean
}

const delay = 8
/** Findings after a change of treatment that have to be treated alike, and the length of a period that is measured. */
const settled = 20
const minPeriod = 100

class Repository {
  readonly name: string
  readonly kinds: ReadonlyArray<Kind>
  readonly #settings: SimulatedSettings
  readonly #book: OutcomeBook
  /** Randomness of the repository and of the attackers, so that both simulations have the same changes. */
  readonly #random: () => number
  readonly #hostile: () => number
  readonly #waiting: Array<{ readonly due: number; readonly outcomes: ReadonlyArray<SimulatedOutcome> }> = []
  readonly counts = {
    findings: 0,
    criticalFolded: 0,
    acceptedByOracle: 0,
    keptAccepted: 0,
    unwanted: 0,
    unwantedFolded: 0
  }
  readonly untilFolded: Array<number> = []
  readonly untilRecovered: Array<number> = []
  readonly #decisions = createHash("sha256")

  constructor(settings: SimulatedSettings, book: OutcomeBook, common: ReadonlyMap<string, number>) {
    this.name = `main:team/app${settings.seed}`
    this.#settings = settings
    this.#book = book
    this.#random = makeRandom(settings.seed)
    this.#hostile = makeRandom(settings.seed + 1000)
    this.kinds = categories.flatMap((category) =>
      severities
        .filter(() => this.#random() < 0.6)
        .map((severity): Kind => {
          const own = drawShare(this.#random)
          const share = this.#random() < 0.5 ? (common.get(`${category} ${severity}`) ?? own) : own
          return { category, severity, weight: 0.3 + this.#random(), share, folded: [], isRecovering: false }
        })
    )
  }

  async run(): Promise<void> {
    const { changes, puppets } = this.#settings
    for (let at = 0; at < changes; at++) {
      if (at === Math.floor(changes / 2)) this.#drift()
      const due = this.#waiting.filter((one) => one.due <= at)
      for (const one of due) {
        this.#waiting.splice(this.#waiting.indexOf(one), 1)
        await this.#book.write(this.name, one.outcomes)
      }
      if (puppets) await this.#book.write(this.name, this.#attack(at))
      await this.#change(at)
    }
    for (const kind of this.kinds) this.#endPeriod(kind)
  }

  #fk: any
  async #read() {
    const judged = await this.#book.judged(this.name)
    const groups = estimateGroups(judged, await this.#book.organisation(), simulatedFloor)
    const wordings = process.env.NOWORD ? [] : findDismissedWordings(judged)
    return findFoldedKinds({ groups, wordings }, "fake/model")
  }

  #pick(): Kind | undefined {
    const total = this.kinds.reduce((sum, { weight }) => sum + weight, 0)
    let left = this.#random() * total
    return this.kinds.find(({ weight }) => (left -= weight) < 0)
  }

  #title(kind: Kind, id: number): string {
    return `${["Missing", "Wrong", "Unclear", "Slow", "Unsafe"][id % 5]} ${["check", "name", "loop", "cache", "branch", "result"][id % 6]} ${["before return", "after await", "around retry"][id % 3]} ${kind.category}`
  }

  async #change(at: number): Promise<void> {
    const foldedKind = at % 4 === 0 || this.#fk === undefined ? (this.#fk = await this.#read()) : this.#fk
    const isCounted = this.#random() < 0.85
    const outcomes: Array<SimulatedOutcome> = []
    for (let left = 1 + Math.floor(this.#random() * 4); left > 0; left--) {
      const kind = this.#pick()
      if (kind === undefined) continue
      const isCritical = this.#random() < 0.04
      const isAccepted = this.#random() < kind.share
      const isDismissed = this.#random() < 0.4
      const id = this.counts.findings++
      const fingerprint = createHash("sha256").update(`${this.name} ${id}`).digest("hex").slice(0, 32)
      const severity = isCritical ? "critical" : kind.severity
      const title = this.#title(kind, Math.floor(this.#random() * 30))
      const path = `src/part${at % 7}.ts`
      const finding: Finding = {
        fingerprint,
        problem: { file: path, severity, category: kind.category, title, message: title }
      }
      const folded = foldedKind(finding)
      const isFolded = folded !== undefined && !folded.isProbe
      this.#decisions.update(isFolded ? "f" : "p")
      this.#count(kind, isCritical, isAccepted, folded !== undefined, isFolded)
      if (isFolded) continue
      outcomes.push({
        targetKey: `${this.name}#${at}`,
        fingerprint,
        category: kind.category,
        severity,
        model: "fake/model",
        path,
        title,
        judgement: isAccepted ? "accepted" : isDismissed ? "dismissed" : "ignored",
        outcome: isAccepted ? "fixed" : isDismissed ? "dismissed" : "open_at_merge",
        isCounted
      })
    }
    this.#waiting.push({ due: at + 1 + Math.floor(this.#random() * delay), outcomes })
  }

  #count(kind: Kind, isCritical: boolean, isAccepted: boolean, isOfFoldedKind: boolean, isFolded: boolean): void {
    const { counts } = this
    if (isCritical) {
      if (isFolded) counts.criticalFolded++
      return
    }
    kind.folded.push(isOfFoldedKind)
    const oracleFolds = kind.share < simulatedFloor
    if (isAccepted && !oracleFolds) {
      counts.acceptedByOracle++
      if (!isFolded) counts.keptAccepted++
    }
    if (!isAccepted && oracleFolds) {
      counts.unwanted++
      if (isFolded) counts.unwantedFolded++
    }
  }

  /** Every second kind becomes noise if it was useful, and useful if it was noise. */
  #drift(): void {
    this.kinds.forEach((kind, at) => {
      if (at % 2 === 1) return
      this.#endPeriod(kind)
      kind.isRecovering = kind.share < simulatedFloor
      kind.share = kind.isRecovering ? useful(this.#random) : noisy(this.#random)
      kind.folded = []
    })
  }

  /** Measures a period without drift: after how many findings of the kind the next ones were nearly all treated as they should be. */
  #endPeriod({ folded, isRecovering, share }: Kind): void {
    const isLow = share < simulatedFloor
    if (!isLow && !isRecovering) return
    const last = folded.length - settled
    if (last < minPeriod) return
    let at = 0
    while (at < last && folded.slice(at, at + settled).filter((one) => one === isLow).length < 0.9 * settled) at++
    ;(isLow ? this.untilFolded : this.untilRecovered).push(at)
  }

  /** What an author and sock puppets may do: merge without a maintainer, close, dismiss without the permission, and repair their own faults. */
  #attack(at: number): ReadonlyArray<SimulatedOutcome> {
    return this.kinds.map((kind, index) => {
      const outcome = (["fixed", "open_at_merge", "dismissed", "open"] as const)[Math.floor(this.#hostile() * 4)] ?? "open"
      return {
        targetKey: `${this.name}#puppet${at}`,
        fingerprint: createHash("sha256").update(`${this.name} puppet ${at} ${index}`).digest("hex").slice(0, 32),
        category: kind.category,
        severity: kind.severity,
        model: "fake/model",
        path: "src/part0.ts",
        title: this.#title(kind, index),
        judgement: outcome === "fixed" ? "accepted" : outcome === "dismissed" ? "dismissed" : "ignored",
        outcome,
        isCounted: false
      }
    })
  }

  get decisions(): string {
    return this.#decisions.digest("hex")
  }
}

/** Keeps outcomes in memory. */
export const makeMemoryBook = (): OutcomeBook => {
  const all = new Map<string, Array<JudgedFinding>>()
  const sums = new Map<string, { category: string; severity: string; judged: number; accepted: number }>()
  return {
    write: async (repository, outcomes) => {
      const rows = all.get(repository) ?? []
      all.set(repository, rows)
      for (const one of outcomes.filter(({ isCounted, outcome }) => isCounted || (false && outcome))) {
        rows.unshift(one)
        const key = `${one.category} ${one.severity}`
        const sum = sums.get(key) ?? { category: one.category, severity: one.severity, judged: 0, accepted: 0 }
        sums.set(key, { ...sum, judged: sum.judged + 1, accepted: sum.accepted + Number(one.judgement === "accepted") })
      }
      if (rows.length > 1500) rows.length = 1500
    },
    judged: async (repository) => {
      const perKey = new Map<string, number>()
      return (all.get(repository) ?? []).filter(({ category, severity }) => {
        const key = `${category} ${severity}`
        perKey.set(key, (perKey.get(key) ?? 0) + 1)
        return (perKey.get(key) ?? 0) <= 60
      })
    },
    organisation: async () => [...sums.values()]
  }
}

export const simulateRepository = async (settings: SimulatedSettings, book: OutcomeBook, common: ReadonlyMap<string, number>) => {
  const repository = new Repository(settings, book, common)
  await repository.run()
  return repository
}

/** Shares that repositories of an organisation have in common. */
export const drawCommonShares = (): ReadonlyMap<string, number> => {
  const random = makeRandom(77)
  return new Map(
    categories.flatMap((category) => severities.map((severity) => [`${category} ${severity}`, drawShare(random)]))
  )
}
