/**
 * Generated changes over many rounds: pushes, rebases and requests to read the same head again, faults that a push plants, and a model that
 * finds those and invents something plausible about any line that it sees. Each line of code occurs once, so that the lines which a prompt
 * showed are known exactly, whatever the engine records. Counts what the channels would publish.
 */
import { Effect } from "effect"
import type { AgentReport, Brief } from "../../src/agent/Agent.ts"
import { severityRank } from "../../src/domain/Kinds.ts"
import type { Severity } from "../../src/domain/Kinds.ts"
import type { ReportedProblem } from "../../src/domain/Problem.ts"
import { commentsIn } from "../../src/domain/Publication.ts"
import { forgeTable } from "../../src/forge/hosts/ForgeTable.ts"
import type { Planned } from "../../src/outputs/channels/Channel.ts"
import { channelTable } from "../../src/outputs/channels/Channels.ts"
import { readFingerprint } from "../../src/outputs/review/ChangedComments.ts"
import { estimateTokens } from "../../src/review/Tokens.ts"
import { channel, input } from "../outputs/Fixtures.ts"
import { emptyReport } from "./Fixture.ts"
import { startRounds } from "./Rounds.ts"

export interface RoundFigures {
  readonly rounds: number
  readonly invented: number
  readonly latePublished: number
  readonly planted: number
  readonly plantedPublished: number
  readonly clean: number
  readonly silent: number
  /** Tokens of the prompts of later rounds, and those without what is remembered. */
  readonly tokens: number
  readonly tokensBefore: number
}

type Counts = { -readonly [K in keyof RoundFigures]: RoundFigures[K] }
type Files = Record<string, ReadonlyArray<string>>

const makeRandom = (seed: number) => {
  let state = (seed * 2_654_435_761) % 2_147_483_647 || 1
  return (below: number): number => (state = (state * 48_271) % 2_147_483_647) % below
}

const severities: ReadonlyArray<Severity> = ["info", "low", "low", "medium", "medium", "medium", "high", "critical"]
const minor: ReadonlyArray<Severity> = ["info", "low", "medium"]
const categories = ["correctness", "performance", "error-handling"]
const high = severityRank("high")

const table = channelTable((kind) => forgeTable[kind].bodyLimit)
const parts = { lineComments: true, summary: true }
const channels = [
  channel({ name: "review", kind: "github_pr_review", max_comments: 500 }),
  channel({ name: "issues", kind: "github_problem_issue" }),
  channel({ name: "chat", kind: "feishu_bot" })
]

/** A report of the model. */
interface ReportedLine {
  readonly isLate: boolean
  readonly isPlanted: boolean
  readonly severity: Severity
}

/** Texts at the host and in the chat. */
class Published {
  readonly #comments = new Set<string>()
  readonly #issues = new Set<string>()

  /** Returns the fingerprints of new comments and issues, and the texts of messages. A text that exists is written once. */
  send(planned: ReadonlyArray<Planned>) {
    const fingerprints: Array<string> = []
    const messages: Array<string> = []
    let reviews = 0
    for (const { operation } of planned) {
      if (operation._tag === "Chat") messages.push(operation.body)
      if (operation._tag === "Issues")
        fingerprints.push(...operation.problems.flatMap(({ fp }) => this.#add(this.#issues, fp)))
      const comments = commentsIn(operation)
      if (operation._tag !== "Review" && comments.length === 0) continue
      const fresh = comments.flatMap((comment) => this.#add(this.#comments, readFingerprint(comment) ?? ""))
      fingerprints.push(...fresh)
      if (fresh.length > 0 || comments.length === 0) reviews++
    }
    return { fingerprints, messages, reviews }
  }

  #add(known: Set<string>, fp: string): ReadonlyArray<string> {
    if (known.has(fp)) return []
    known.add(fp)
    return [fp]
  }
}

/** The author: files of the base and of the change, and the lines next to which the last push removed others. */
class Author {
  readonly base: Files = {}
  readonly head: Files = {}
  readonly beside = new Set<string>()
  readonly #random: (below: number) => number
  #next = 1

  constructor(random: (below: number) => number) {
    this.#random = random
    for (let file = 0; file < 4; file++) this.base[`src/part${file}.ts`] = this.#lines(40)
    Object.assign(this.head, this.base)
  }

  #line(): string {
    const id = this.#next++
    return this.#random(8) === 0 ? (id % 2 === 0 ? "}" : "") : `const value${id} = derive(input${id}, "name ${id}")`
  }

  #lines(count: number): ReadonlyArray<string> {
    return Array.from({ length: count }, () => this.#line())
  }

  /** Changes one or two files, and plants a fault of this severity, if any. */
  push(fault: Severity | undefined): void {
    this.beside.clear()
    const paths = Object.keys(this.head)
    for (let edits = 1 + this.#random(2); edits > 0; edits--) this.#edit(paths[this.#random(paths.length)] ?? "")
    if (this.#random(4) === 0) this.head[`src/added${this.#next}.ts`] = this.#lines(12)
    if (fault === undefined) return
    const path = paths[this.#random(paths.length)] ?? ""
    const lines = this.head[path] ?? []
    const at = this.#random(lines.length)
    this.head[path] = lines.toSpliced(at, 0, `const planted${this.#next++} = fault("${fault}")`)
  }

  #edit(path: string): void {
    const lines = this.head[path] ?? []
    const at = 1 + this.#random(lines.length - 2)
    const removed = this.#random(3) === 0 ? 1 + this.#random(2) : 0
    this.head[path] = lines.toSpliced(at, removed, ...this.#lines(removed > 0 ? this.#random(2) : 1 + this.#random(3)))
    if (removed > 0) for (const line of [lines[at - 1], lines[at + removed]]) this.beside.add(`${path} ${line}`)
  }

  /** The base branch gains lines at the top of a file, and the change is rebased. */
  rebase(): void {
    this.beside.clear()
    const path = "src/part0.ts"
    const above = this.#lines(3)
    this.base[path] = [...above, ...(this.base[path] ?? [])]
    this.head[path] = [...above, ...(this.head[path] ?? [])]
  }
}

interface ShownLine {
  readonly file: string
  readonly number: number
  readonly code: string
  readonly key: string
}

/** Lines of a prompt that exist at the head, with enough code to be quoted. */
const linesIn = (prompt: string): ReadonlyArray<ShownLine> => {
  const shown: Array<ShownLine> = []
  let file = ""
  for (const line of prompt.split("\n")) {
    file = /^=== (\S+) /.exec(line)?.[1] ?? file
    const [, number, mark = "", code = ""] = /^(\d+)(\+?): (const .*)$/.exec(line) ?? []
    if (number !== undefined) shown.push({ file, number: Number(number), code, key: `${file} ${mark} ${code}` })
  }
  return shown
}

/** The model of one change: reports every planted fault, and with `isClean` else only minor things about lines that it saw before. */
class Inventor {
  readonly reported = new Map<string, ReportedLine>()
  readonly #seen = new Set<string>()
  readonly #random: (below: number) => number
  readonly #author: Author

  constructor(random: (below: number) => number, author: Author) {
    this.#random = random
    this.#author = author
  }

  review(prompt: string, round: number, isClean: boolean): AgentReport {
    const problems: Array<ReportedProblem> = []
    const shown = linesIn(prompt)
    for (const line of shown) {
      const planted = /fault\("(\w+)"\)/.exec(line.code)?.[1] as Severity | undefined
      const isLate = this.#seen.has(line.key) && !this.#author.beside.has(`${line.file} ${line.code}`)
      if (planted === undefined && (this.#random(6) > 0 || (isClean && !isLate))) continue
      const from = isClean ? minor : severities
      const severity = planted ?? from[this.#random(from.length)] ?? "low"
      const title = planted === undefined ? `Invention ${this.reported.size} of round ${round}` : line.code.slice(6, 18)
      const category = planted === undefined ? (categories[this.#random(categories.length)] ?? "") : "security"
      if (!this.reported.has(title)) this.reported.set(title, { isLate, isPlanted: planted !== undefined, severity })
      const { code, file, number } = line
      problems.push({ file, line: number, severity, category, title, message: title, quote: code })
    }
    for (const { key } of shown) this.#seen.add(key)
    return { ...emptyReport, problems, summary: "Read." }
  }
}

const withoutMemory = (prompt: string): string => prompt.replace(/Reported in earlier rounds\..*?<\/reported \w+>/s, "")

type Step = "push" | "clean" | "rebase" | "again"
const steps: ReadonlyArray<Step> = ["push", "push", "push", "push", "clean", "clean", "rebase", "again"]

/** Reviews one generated change. */
export const simulateRounds = async (seed: number, rounds: number): Promise<RoundFigures> => {
  const random = makeRandom(seed)
  const author = new Author(random)
  const model = new Inventor(random, author)
  const change = startRounds(author.base)
  const published = new Published()
  /** Fingerprints of earlier rounds, which every message repeats. */
  const said = new Set<string>()
  const counts: Counts = {
    rounds: 0,
    invented: 0,
    latePublished: 0,
    planted: 0,
    plantedPublished: 0,
    clean: 0,
    silent: 0,
    tokens: 0,
    tokensBefore: 0
  }
  for (let round = 1; round <= rounds; round++) {
    const step: Step = round === 1 ? "push" : (steps[random(steps.length)] ?? "push")
    const isClean = step !== "push"
    const fault = step === "push" && random(3) > 0 ? severities[random(severities.length)] : undefined
    if (step === "rebase") {
      author.rebase()
      change.moveBase(author.base)
      change.repository.git("switch", "-q", "-C", "feature", "main")
    } else if (step === "again") author.beside.clear()
    else author.push(fault)
    const options = {
      agent: (brief: Brief) => Effect.succeed(model.review(brief.prompt, round, isClean)),
      rereads: step === "again"
    }
    const { analysis, briefs } = await (step === "again" ? change.again(options) : change.push(author.head, options))
    const head = change.repository.git("rev-parse", "HEAD")
    const given = input(analysis.findings, { analysis, head, runId: `run-${round}` })
    const sent = published.send(
      channels.flatMap((one) => table[one.kind as keyof typeof table].plan(given, one, parts))
    )
    const titles = new Map(analysis.findings.map(({ fingerprint, problem }) => [fingerprint, problem.title ?? ""]))
    const posted = new Set(sent.fingerprints)
    counts.rounds++
    for (const [fingerprint, title] of titles) {
      const report = model.reported.get(title)
      if (report?.isLate !== true || severityRank(report.severity) >= high) continue
      const isSent = !said.has(fingerprint) && sent.messages.some((body) => body.includes(title))
      counts.latePublished += Number(posted.has(fingerprint) || isSent)
    }
    for (const fingerprint of titles.keys()) said.add(fingerprint)
    if (fault !== undefined) {
      counts.planted++
      const isShown = analysis.findings.some(
        ({ problem, round: own }) => problem.category === "security" && own?.kind === "new"
      )
      counts.plantedPublished += Number(isShown)
    }
    if (isClean) {
      counts.clean++
      counts.silent += Number(sent.fingerprints.length + sent.messages.length + sent.reviews === 0)
    }
    for (const brief of round === 1 ? [] : briefs) {
      const prompt = `${brief.system}\n${brief.prompt}`
      counts.tokens += estimateTokens(prompt)
      counts.tokensBefore += estimateTokens(withoutMemory(prompt))
    }
  }
  counts.invented = [...model.reported.values()].filter(({ isPlanted }) => !isPlanted).length
  return counts
}

/** Adds the figures of changes. */
export const addFigures = (all: ReadonlyArray<RoundFigures>): RoundFigures =>
  all.reduce((sum, one) => ({
    rounds: sum.rounds + one.rounds,
    invented: sum.invented + one.invented,
    latePublished: sum.latePublished + one.latePublished,
    planted: sum.planted + one.planted,
    plantedPublished: sum.plantedPublished + one.plantedPublished,
    clean: sum.clean + one.clean,
    silent: sum.silent + one.silent,
    tokens: sum.tokens + one.tokens,
    tokensBefore: sum.tokensBefore + one.tokensBefore
  }))
