/**
 * Relations between changes that are the same for a reader: the order of the files, more unchanged code around the changed lines, white
 * space and the names of variables change no verdict and no number of findings, in the first round and in a later one. The model reports
 * lines by what they do.
 */
import { expect, it } from "vitest"
import { describe as describeVerdict, decideVerdict } from "../../src/domain/Verdict.ts"
import type { Analysis } from "../../src/domain/Analysis.ts"
import { listKinds, startRounds } from "./Rounds.ts"
import type { Reported } from "./Rounds.ts"

type Files = Readonly<Record<string, ReadonlyArray<string>>>

interface Rounds {
  readonly base: Files
  readonly first: Files
  readonly second: Files
}

const report: ReadonlyArray<Reported> = [
  { text: "eval(", severity: "critical", category: "security" },
  { text: "retry(", severity: "medium" },
  { text: "<= ", severity: "high" },
  { text: "TODO", severity: "low", category: "maintainability" }
]
/** Reports of the second round only, about lines that the first one read. */
const invented: ReadonlyArray<Reported> = [{ text: "log(", severity: "medium", isAdded: true }]

const functionOf = (name: string, body: ReadonlyArray<string>): ReadonlyArray<string> => [
  `export function ${name}(items) {`,
  "  let sum = 0",
  `  for (const item of items) sum += item.${name}`,
  ...body,
  `  return sum + ${name.length}`,
  "}",
  ""
]

const faults = [
  ["  eval(items.source)"],
  ["  retry(() => items.load(), 1)", "  log(items)"],
  ["  for (let i = 0; i <= items.length; i++) log(items[i])"],
  ["  // TODO: check the unit", "  log(items.unit)"],
  ["  log(items)"]
]
const names = ["price", "count", "weight", "volume"]

/** One change: each file has three functions, and the change adds lines to the middle one. */
const generate = (seed: number): Rounds => {
  const fileOf = (at: number, body: ReadonlyArray<string>) =>
    names.slice(0, 3).flatMap((_, index) => {
      const name = `${names[(at + index) % names.length]}${at}${index}`
      return functionOf(name, index === 1 ? body : [])
    })
  const files = (bodyOf: (at: number) => ReadonlyArray<string>): Files =>
    Object.fromEntries([0, 1, 2].map((at) => [`src/${"abc"[at]}${seed}.ts`, fileOf(at, bodyOf(at))]))
  const faultOf = (at: number) => faults[(seed + at) % faults.length] ?? []
  return {
    base: files(() => []),
    first: files(faultOf),
    second: files((at) => (at === 1 ? [...faultOf(at), ...(faults[(seed + 3) % faults.length] ?? [])] : faultOf(at)))
  }
}

const mapFiles = (
  rounds: Rounds,
  map: (path: string, lines: ReadonlyArray<string>) => [string, ReadonlyArray<string>]
) => {
  const all = (files: Files) => Object.fromEntries(Object.entries(files).map(([path, lines]) => map(path, lines)))
  return { base: all(rounds.base), first: all(rounds.first), second: all(rounds.second) }
}

const relations: ReadonlyArray<readonly [string, (rounds: Rounds) => Rounds]> = [
  [
    "the order of the files",
    (rounds) =>
      mapFiles(rounds, (path, lines) => [path.replace(/[abc](?=\d)/, (at) => "zyx"["abc".indexOf(at)] ?? ""), lines])
  ],
  [
    "twice the unchanged code",
    (rounds) =>
      mapFiles(rounds, (path, lines) => [
        path,
        lines.flatMap((line, at) => (line === "" ? [line, ...functionOf(`extra${path.length}${at}`, [])] : [line]))
      ])
  ],
  [
    "white space",
    (rounds) => mapFiles(rounds, (path, lines) => [path, lines.map((line) => line.replace(/^ {2}/, "\t\t"))])
  ],
  [
    "names of variables",
    (rounds) =>
      mapFiles(rounds, (path, lines) => [
        path,
        lines.map((line) => line.replaceAll("items", "rows").replaceAll("item ", "row ").replaceAll("item.", "row."))
      ])
  ]
]

const verdictOf = (analysis: Analysis) => ({
  state: decideVerdict(analysis, { unread: "fail", status_fail_on: "high" }),
  description: describeVerdict(analysis),
  ...listKinds(analysis)
})

const reviewRounds = async ({ base, first, second }: Rounds) => {
  const change = startRounds(base)
  const one = await change.push(first, { report })
  const two = await change.push(second, { report: [...report, ...invented] })
  return [verdictOf(one.analysis), verdictOf(two.analysis)]
}

it.each([0, 3])(
  "no relation changes a verdict of change %i",
  async (seed) => {
    const rounds = generate(seed)
    const expected = await reviewRounds(rounds)
    expect(expected.flatMap(({ published }) => published).length).toBeGreaterThan(2)
    expect(expected[1]?.late.length).toBeGreaterThan(0)
    for (const [name, relate] of relations) expect([name, await reviewRounds(relate(rounds))]).toEqual([name, expected])
  },
  240_000
)
