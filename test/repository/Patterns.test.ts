/**
 * Regular expressions that may see the text of outsiders (changes, payloads, paths, models) take time that grows with the text
 * and no faster: no part of one may be tried again in another way, and patterns consist of literals only. Faults that the
 * analysis cannot see, such as a beginning that is found again and again without its end, are tried out with texts that fit each
 * pattern.
 */
import { readdirSync, readFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { join } from "node:path"
import { createContext, Script } from "node:vm"
import { parse } from "acorn"
import { full } from "acorn-walk"
import * as fc from "fast-check"
import { analyse } from "scslre"
import { describe, expect, it } from "vitest"

const folders = ["actors", "demo", "eval", "nats", "src"]

/** Folders whose patterns see no text of outsiders, and why. */
const inside: Readonly<Record<string, string>> = {
  "demo/": "the bundled change and what this service writes about it, on the computer of who runs the demo"
}

/** File and pattern, and why it may stay. */
const allowed: Readonly<Record<string, string>> = {
  "src/llm/providers/Bedrock.ts ^\\s*\\[\\s*([^\\]]+?)\\s*\\]": "of the operator's own file",
  "src/llm/providers/Bedrock.ts ^([A-Za-z0-9_]+)\\s*=\\s*(.*?)\\s*$": "of the operator's own file",
  "src/review/Secrets.ts \\beyJ[A-Za-z0-9_-]{8,}$": "of a text of these characters, where the first attempt matches"
}
/** Files that put patterns together, and why they may. */
const composed: Readonly<Record<string, string>> = {
  "src/config/document/Normalise.ts": "of constants of the schema",
  "src/queue/journal/RedisLink.ts": "of constants of the file",
  "src/review/Injection.ts": "of constants of the file, over 2,000 characters"
}

interface Found {
  readonly file: string
  readonly line: number
  readonly source: string
  readonly flags: string
}

interface Node {
  readonly type: string
  readonly regex?: { readonly pattern: string; readonly flags: string }
  readonly callee?: { readonly type: string; readonly name?: string }
  readonly arguments?: ReadonlyArray<{ readonly type: string }>
  readonly loc?: { readonly start: { readonly line: number } } | null
}

const filesOf = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(ts|mjs)$/.test(name))
    .map((name) => join(folder, name))

const literalsAndCalls = (code: string, file: string) => {
  const literals: Array<Found> = []
  const calls: Array<string> = []
  const tree = parse(stripTypeScriptTypes(code), { ecmaVersion: "latest", sourceType: "module", locations: true })
  full(tree, (node: Node) => {
    const line = node.loc?.start.line ?? 0
    if (node.regex !== undefined) literals.push({ file, line, source: node.regex.pattern, flags: node.regex.flags })
    const isCall = node.type === "NewExpression" || node.type === "CallExpression"
    if (isCall && node.callee?.name === "RegExp" && node.arguments?.[0]?.type !== "Literal")
      calls.push(`${file}:${line}`)
  })
  return { literals, calls }
}

const isInside = (file: string): boolean => Object.keys(inside).some((folder) => file.startsWith(folder))

const files = folders.flatMap(filesOf).filter((file) => !isInside(file))
const sources = files.map((file) => literalsAndCalls(readFileSync(file, "utf8"), file))
const literals = sources.flatMap((source) => source.literals)
const isAllowed = ({ file, source }: Found): boolean => Object.hasOwn(allowed, `${file} ${source}`)

const faultsOf = (found: ReadonlyArray<Found>): ReadonlyArray<string> =>
  found.flatMap(({ file, line, source, flags }) =>
    analyse({ source, flags }, { maxReports: 1 }).reports.map(
      ({ type }) => `${file}:${line} /${source}/${flags} (${type})`
    )
  )

const context: { pattern?: RegExp; text?: string; sample?: () => void } = createContext({})
/** Maximum time in milliseconds of one replacement, also with a pattern that would never end. */
const maxMillis = 2000

const takeSample = new Script("sample()")
/** The generator seeks characters of some classes without end. */
const maxSampleMillis = 20_000

/** Pieces of what matches. */
const piecesFor = (source: string, flags: string): ReadonlyArray<string> => {
  const untyped = source.replace(/\\[a-zA-Z]|[\\()[\]{}?*+^$|]/g, "")
  let matching: ReadonlyArray<string> = [untyped]
  context.sample = () => {
    matching = fc.sample(fc.stringMatching(new RegExp(source, flags.replace(/[gy]/g, "")), { maxLength: 40 }), {
      seed: 7,
      numRuns: 4
    })
  }
  try {
    takeSample.runInContext(context, { timeout: maxSampleMillis })
  } catch {
    // Assertions and classes that the generator does not support.
  }
  return matching
    .flatMap((text) => [text.slice(0, -1), text.slice(0, Math.ceil(text.length / 2))])
    .filter((text) => text !== "")
}

const replaceAll = new Script('text.replace(pattern, "")')
/** Shorter times are not compared. */
const shortMillis = 4

/** Milliseconds of the processor, which other work on the machine does not lengthen. */
const usedMillis = (): number => {
  const { system, user } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** Milliseconds that the pattern needs for the repeated piece with an end that fits few patterns, or infinity. */
const millisOf = (pattern: RegExp, piece: string, length: number): number => {
  context.pattern = pattern
  context.text = `${piece.repeat(Math.ceil(length / piece.length))}\0`
  let least = Infinity
  for (let run = 0; run < 3; run++) {
    const from = usedMillis()
    try {
      replaceAll.runInContext(context, { timeout: maxMillis })
    } catch {
      return Infinity
    }
    least = Math.min(least, usedMillis() - from)
    if (least < shortMillis) break
  }
  return least
}

/** Pieces that make twice the text take much more than twice the time: four times as long, nine times the time and more. */
const isSlow = ({ source, flags }: Pick<Found, "source" | "flags">): boolean => {
  const pattern = new RegExp(source, flags.includes("g") ? flags : `${flags}g`)
  return piecesFor(source, flags).some((piece) => {
    const isSlower = () => {
      const long = millisOf(pattern, piece, 24_000)
      return long === Infinity || (long > shortMillis && long > 9 * millisOf(pattern, piece, 6000))
    }
    return [1, 2, 3].every(isSlower)
  })
}

describe("patterns", () => {
  it("are found", () => expect(literals.length).toBeGreaterThan(200))

  it("try nothing again in another way", () => {
    expect(faultsOf(literals.filter((found) => !isAllowed(found)))).toEqual([])
  })

  it("are not put together from what is not a literal", () => {
    const calls = sources.flatMap((source) => source.calls)
    expect(calls.filter((call) => !Object.hasOwn(composed, call.replace(/:\d+$/, "")))).toEqual([])
  })

  it("take little time over beginnings without an end", () => {
    const slow = literals.filter((found) => !isAllowed(found) && isSlow(found))
    expect(slow.map(({ file, line, source }) => `${file}:${line} /${source}/`)).toEqual([])
  })

  it("that are allowed exist", () => {
    const present = new Set(literals.map(({ file, source }) => `${file} ${source}`))
    const composing = new Set(sources.flatMap(({ calls }) => calls.map((call) => call.replace(/:\d+$/, ""))))
    expect(Object.keys(allowed).filter((key) => !present.has(key))).toEqual([])
    expect(Object.keys(composed).filter((file) => !composing.has(file))).toEqual([])
    expect(Object.keys(inside).filter((folder) => filesOf(folder).length === 0)).toEqual([])
  })

  it("of every folder are covered", () => {
    const parts = (file: string) => file.split("/").slice(0, file.startsWith("src/") ? 2 : 1)
    const covered = new Set(files.map((file) => parts(file).join("/")))
    const all = readdirSync("src").map((name) => `src/${name}`)
    expect(all.filter((name) => !covered.has(name) && !isInside(`${name}/`))).toEqual([])
  })

  it.each([
    ["const a = /(a|aa)+$/", 1, 0],
    ["const a = /\\s+$/", 1, 0],
    ["const a = new RegExp(b)", 0, 1],
    ["const a = RegExp(`${b}`)", 0, 1],
    ["const a = new RegExp('b')", 0, 0]
  ])("refuses %s", (code, faults, calls) => {
    const found = literalsAndCalls(code, "x.ts")
    expect([faultsOf(found.literals).length, found.calls.length]).toEqual([faults, calls])
  })

  it.each(["<!-- (\\{[^\\n]*?\\}) -->", "^(?:[a-z]+)+$"])(
    "notices that %s may need much more time than a text is long",
    (source) => {
      expect(isSlow({ source, flags: "g" })).toBe(true)
    }
  )
})
