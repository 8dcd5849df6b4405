/**
 * Generated histories of changes with findings: the files that the newest review read, those at the end of the change, and what became of each
 * finding. The same ones for the same seed.
 */
import type { FindingState } from "../../src/domain/FindingState.ts"
import { codeKey } from "../../src/review/CodeKey.ts"
import { toEvidenceFile } from "../../src/review/EvidenceLines.ts"
import { takeEvidence } from "../../src/review/TakeEvidence.ts"
import type { RecordedFinding } from "../../src/engine/SettleChange.ts"

type Files = Readonly<Record<string, string>>

export interface SettledHistory {
  /** Files before the change. */
  readonly base: Files
  /** Files that the newest review read. */
  readonly reviewed: Files
  /** Files at the end: the merged tree, with what others merged before, or the last head. */
  readonly end: Files
  readonly isMerged: boolean
  readonly findings: ReadonlyArray<RecordedFinding>
  /** The state of each finding, in order, with the event that caused it. */
  readonly truth: ReadonlyArray<{ readonly state: FindingState; readonly event: Event }>
}

/** Events of a finding's code between the newest review and the end of its change. */
const events = [
  "kept",
  "repaired",
  "removed",
  "partly repaired",
  "reverted",
  "renamed",
  "renamed and repaired",
  "split",
  "reformatted",
  "shifted",
  "definition renamed",
  "moved within the file",
  "file deleted",
  "repaired before, and guarded only",
  "repaired before, and the repair reverted",
  "dismissed",
  "withdrawn",
  "restored",
  "repaired, with a twin",
  "twin repaired",
  "neighbours changed",
  "indented",
  "split and repaired",
  "moved to another file"
] as const
type Event = (typeof events)[number]

const makeRandom = (seed: number) => {
  let state = (seed * 2_654_435_761) % 2_147_483_647 || 1
  return (below: number): number => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
}

interface Code {
  readonly name: string
  readonly lines: ReadonlyArray<string>
}

interface SourceFile {
  readonly path: string
  readonly functions: ReadonlyArray<Code>
}

const words = ["order", "invoice", "parcel", "ledger", "tariff", "voucher", "refund", "quota"]

/** Statements that many functions have. */
const common = ["return cache.get(key)", "await client.close()", "if (input === undefined) return null", "log(error)"]

const print = ({ functions }: SourceFile, indent = "  "): string =>
  functions
    .flatMap(({ lines, name }) => [`export function ${name}(input) {`, ...lines.map((line) => indent + line), "}", ""])
    .join("\n")

const toFiles = (sources: ReadonlyArray<SourceFile>): Files =>
  Object.fromEntries(sources.map((source) => [source.path, print(source)]))

/** Lines of a fault in a function; those of the second kind are faulty one by one. */
type Fault = { readonly lines: ReadonlyArray<string>; readonly parts: boolean }

/** Code that a formatter breaks, or that is recognised in another file, has to be long. */
const needsLongCode: ReadonlySet<Event> = new Set(["split", "reformatted", "moved to another file"])

class Generator {
  readonly #random: (below: number) => number
  #next = 1

  constructor(seed: number) {
    this.#random = makeRandom(seed)
  }

  pick<A>(all: ReadonlyArray<A>): A {
    const one = all[this.#random(all.length)]
    if (one === undefined) throw new Error("nothing to pick from")
    return one
  }

  chance(oneIn: number): boolean {
    return this.#random(oneIn) === 0
  }

  statement(): string {
    const id = this.#next++
    return this.chance(3) ? this.pick(common) : `const ${this.pick(words)}${id} = lookup(table, ${id * 7})`
  }

  code(): Code {
    const lines = Array.from({ length: 3 + this.#random(6) }, () => this.statement())
    return { name: `${this.pick(words)}Step${this.#next++}`, lines }
  }

  source(): SourceFile {
    const id = this.#next++
    const functions = Array.from({ length: 3 + this.#random(5) }, () => this.code())
    return { path: `src/${this.pick(words)}/${this.pick(words)}${id}.ts`, functions }
  }

  fault(event: Event): Fault {
    const id = this.#next++
    const one = (nth: number) => `total${id} += items[index + ${nth}].price * rate${id}`
    if (event === "partly repaired") return { lines: [one(1), one(2)], parts: true }
    if (!needsLongCode.has(event) && this.chance(4))
      return { lines: [this.pick(["return items[0].price", "send(input.secret)", "return a / b"])], parts: false }
    return this.chance(3)
      ? { lines: [`const rows${id} = query("select " + input.name${id})`, one(1)], parts: false }
      : { lines: [one(1)], parts: false }
  }

  repaired(fault: Fault): ReadonlyArray<string> {
    const id = this.#next++
    return fault.lines.map((_, at) => `const safe${id}x${at} = checked(input, ${id})`)
  }
}

const insert = (lines: ReadonlyArray<string>, at: number, more: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...lines.slice(0, at),
  ...more,
  ...lines.slice(at)
]

interface Planted {
  readonly event: Event
  readonly base: SourceFile
  readonly fault: Fault
  /** Position of the function in its file, and of the fault in the function. */
  readonly nth: number
  readonly at: number
  /** An existing file that the change does not touch before its newest review. */
  readonly other: SourceFile
}

const withCode = (source: SourceFile, nth: number, change: (code: Code) => Code): SourceFile => ({
  ...source,
  functions: source.functions.map((code, at) => (at === nth ? change(code) : code))
})

const withLines = (source: SourceFile, nth: number, change: (lines: ReadonlyArray<string>) => ReadonlyArray<string>) =>
  withCode(source, nth, (code) => ({ ...code, lines: change(code.lines) }))

/** Returns the file as the newest review read it. */
const reviewedOf = ({ at, base, event, fault, nth }: Planted, made: Generator): SourceFile => {
  if (event === "repaired before, and the repair reverted")
    return withLines(base, nth, (lines) => insert(lines, at, made.repaired(fault)))
  if (event === "repaired before, and guarded only")
    return withLines(base, nth, (lines) => ["if (!isValid(input)) return null", ...insert(lines, at, fault.lines)])
  const found = withLines(base, nth, (lines) => insert(lines, at, fault.lines))
  return hasTwin(event) ? withLines(found, twinOf({ nth }), (lines) => [...lines, ...fault.lines]) : found
}

const hasTwin = (event: Event): boolean => event === "repaired, with a twin" || event === "twin repaired"

/** Returns the position of another function of the file. */
const twinOf = ({ nth }: Pick<Planted, "nth">): number => (nth === 0 ? 1 : nth - 1)

/** Returns the text with the lines of the fault broken as a formatter breaks them. */
const reformat = (text: string, fault: Fault): string =>
  fault.lines.reduce((all, line) => all.replace(`  ${line}`, `    ${line.replace(" * ", "\n      * ")}`), text)

const toRenamed = (path: string): string => path.replace("src/", "src/moved/")

/** Returns the files of the end that take the place of the reviewed one. */
const endOf = (planted: Planted, reviewed: SourceFile, made: Generator): Files => {
  const { at, base, event, fault, nth } = planted
  const withRepair = (source: SourceFile, repaired: ReadonlyArray<string>) =>
    withLines(source, nth, (lines) => [...lines.slice(0, at), ...repaired, ...lines.slice(at + fault.lines.length)])
  const one = (source: SourceFile): Files => toFiles([source])
  const rest = { ...reviewed, functions: reviewed.functions.filter((_, index) => index !== nth) }
  const own = reviewed.functions.slice(nth, nth + 1)
  switch (event) {
    case "repaired":
      return one(withRepair(reviewed, made.repaired(fault)))
    case "removed":
      return one(withRepair(reviewed, []))
    case "partly repaired":
      return one(withRepair(reviewed, [...made.repaired({ ...fault, lines: [""] }), ...fault.lines.slice(1)]))
    case "reverted":
      return one(base)
    case "renamed":
      return one({ ...reviewed, path: toRenamed(reviewed.path) })
    case "renamed and repaired":
      return one({ ...withRepair(reviewed, made.repaired(fault)), path: toRenamed(reviewed.path) })
    case "split":
      return toFiles([rest, { path: reviewed.path.replace(".ts", "Part.ts"), functions: own }])
    case "reformatted":
      return { [reviewed.path]: reformat(print(reviewed), fault) }
    case "shifted":
      return one({ ...reviewed, functions: [made.code(), made.code(), ...reviewed.functions] })
    case "definition renamed":
      return one(withCode(reviewed, nth, (code) => ({ ...code, name: `${code.name}Renamed` })))
    case "moved within the file":
      return one({ ...rest, functions: [...own, ...rest.functions] })
    case "file deleted":
      return {}
    case "repaired before, and the repair reverted":
      return one(withLines(base, nth, (lines) => insert(lines, at, fault.lines)))
    case "repaired, with a twin":
      return one(withRepair(reviewed, made.repaired(fault)))
    case "twin repaired":
      return one(withLines(reviewed, twinOf(planted), (lines) => lines.slice(0, -fault.lines.length)))
    case "neighbours changed":
      return one(
        withLines(reviewed, nth, (lines) =>
          lines.map((line, index) => (index < at || index >= at + fault.lines.length ? made.statement() : line))
        )
      )
    case "indented":
      return one(withRepair(reviewed, ["if (isEnabled) {", ...fault.lines.map((line) => `  ${line}`), "}"]))
    case "split and repaired":
      return toFiles([
        rest,
        {
          path: reviewed.path.replace(".ts", "Part.ts"),
          functions: withRepair(reviewed, made.repaired(fault)).functions.slice(nth, nth + 1)
        }
      ])
    case "moved to another file":
      return toFiles([rest, { ...planted.other, functions: [...planted.other.functions, ...own] }])
    default:
      return one(reviewed)
  }
}

const states: Readonly<Record<Event, FindingState>> = {
  kept: "open",
  repaired: "fixed",
  removed: "fixed",
  "partly repaired": "partly",
  reverted: "fixed",
  renamed: "open",
  "renamed and repaired": "fixed",
  split: "moved_away",
  reformatted: "open",
  shifted: "open",
  "definition renamed": "open",
  "moved within the file": "open",
  "file deleted": "fixed",
  "repaired before, and guarded only": "fixed",
  "repaired before, and the repair reverted": "open",
  dismissed: "dismissed",
  withdrawn: "withdrawn",
  restored: "fixed",
  "repaired, with a twin": "fixed",
  "twin repaired": "open",
  "neighbours changed": "open",
  indented: "open",
  "split and repaired": "fixed",
  "moved to another file": "moved_away"
}

const outcomes: Readonly<Partial<Record<Event, FindingState>>> = {
  dismissed: "dismissed",
  withdrawn: "withdrawn",
  "repaired before, and guarded only": "fixed",
  "repaired before, and the repair reverted": "fixed"
}

/** Returns the finding of the fault, with what the review that found it recorded. */
const findingOf = (planted: Planted, fingerprint: string): RecordedFinding => {
  const { at, base, event, fault, nth } = planted
  const { path } = base
  const isRestored = event === "restored"
  const found = withLines(base, nth, (lines) => insert(lines, at, fault.lines))
  const source = hasTwin(event) ? withLines(found, twinOf(planted), (lines) => [...lines, ...fault.lines]) : found
  const text = isRestored ? print(base) : print(source)
  const file = toEvidenceFile(text)
  const removed = base.functions[nth]?.lines[at] ?? ""
  const own = isRestored ? [removed] : fault.lines
  const before = source.functions.slice(0, nth).reduce((sum, { lines }) => sum + lines.length + 3, 0)
  const start = before + 2 + at
  const line = start + own.length - 1
  const side = isRestored ? ("old" as const) : ("new" as const)
  const anchor = { path, side, line, ...(own.length > 1 ? { start } : {}) }
  const code = codeKey({ quote: own.join("\n") }, { code: own.join("\n"), anchor }, text)
  const evidence = takeEvidence(anchor, file)
  return { fingerprint, path, anchor, code, evidence, outcome: outcomes[event] ?? "open" }
}

/** Returns the base with the removed line, or the review of it without. */
const restoredSides = ({ at, base, nth }: Planted): readonly [SourceFile, SourceFile] => [
  withLines(base, nth, (lines) => lines.filter((_, index) => index !== at)),
  base
]

const plant = (made: Generator, event: Event): Planted => {
  const base = made.source()
  const nth = base.functions.indexOf(made.pick(base.functions))
  const length = base.functions[nth]?.lines.length ?? 1
  const at = length === 0 ? 0 : (base.functions[nth]?.lines.indexOf(made.pick(base.functions[nth]?.lines ?? [""])) ?? 0)
  return { event, base, fault: made.fault(event), nth, at, other: made.source() }
}

/** Returns a history with two to four findings, each in a file of its own, among files that others change. */
export const makeHistory = (seed: number): SettledHistory => {
  const made = new Generator(seed)
  const chosen = Array.from(
    { length: 2 + (seed % 3) },
    (_, at) => events[(seed * 5 + at * 7) % events.length] ?? "kept"
  )
  const planted = chosen.map((event) => plant(made, event))
  const others = [made.source(), made.source()]
  const untouched = planted.flatMap(({ event, other }) => (event === "moved to another file" ? [other] : []))
  const sides = planted.map((one): { readonly reviewed: SourceFile; readonly end: Files } => {
    if (one.event === "restored") {
      const [reviewed, end] = restoredSides(one)
      return { reviewed, end: toFiles([end]) }
    }
    const reviewed = reviewedOf(one, made)
    return { reviewed, end: endOf(one, reviewed, made) }
  })
  const isMerged = !made.chance(5)
  return {
    base: toFiles([...planted.map(({ base }) => base), ...others, ...untouched]),
    reviewed: toFiles([...sides.map(({ reviewed }) => reviewed), ...others, ...untouched]),
    end: Object.assign(
      toFiles(others.map((source) => ({ ...source, functions: [made.code(), ...source.functions] }))),
      ...sides.map(({ end }) => end)
    ),
    isMerged,
    findings: planted.map((one, at) => findingOf(one, String(at).padStart(32, "0"))),
    truth: planted.map(({ event }) => ({ event, state: states[event] }))
  }
}
