/** The bundled labelled changes: what they claim is checked against git's diff and, where there is a grammar, a parser. */
import { createRequire } from "node:module"
import { dirname, join } from "node:path"
import { execFileSync } from "node:child_process"
import { describe, expect, it } from "vitest"
import { Effect } from "effect"
import treeSitter from "@vscode/tree-sitter-wasm"
import { findGrammar } from "../../src/engine/syntax/Grammars.ts"
import { numberLines } from "../../src/review/FileDiff.ts"
import { makeDiffParser } from "../../src/review/ParseDiff.ts"
import * as GitScratchRepository from "../../src/vcs/git/GitScratchRepository.ts"
import { ScratchRepository } from "../../src/vcs/ScratchRepository.ts"
import { bundledCases as cases, changedPaths } from "../harness/BundledCases.ts"

const faulty = cases.filter(({ expected }) => expected.length > 0)
const clean = cases.filter(({ expected }) => expected.length === 0)
const crossFile = faulty.filter(({ needs }) => needs.length > 0)
const suspicious = clean.filter(({ looksWrong }) => looksWrong !== undefined)

const countBy = <A>(all: ReadonlyArray<A>, key: (one: A) => string): ReadonlyMap<string, number> =>
  new Map([...Map.groupBy(all, key)].map(([name, group]) => [name, group.length]))

describe("the bundled changes", () => {
  it("are at least 200: 60 across files, 40 that only look wrong", () => {
    expect(cases.length).toBeGreaterThanOrEqual(200)
    expect(crossFile.length).toBeGreaterThanOrEqual(60)
    expect(suspicious.length).toBeGreaterThanOrEqual(40)
    expect(faulty.filter(({ looksWrong }) => looksWrong !== undefined)).toEqual([])
  })

  it("are spread over ten languages and more, each with clean changes and faults across files", () => {
    const languages = [...countBy(cases, ({ language }) => language)].filter(([, count]) => count >= 10)
    expect(languages.length).toBeGreaterThanOrEqual(10)
    for (const [language] of languages) {
      const here = (some: typeof cases) => some.filter((one) => one.language === language).length
      expect([language, here(clean) >= 3, here(crossFile) >= 3]).toEqual([language, true, true])
    }
  })

  it("vary: forty kinds of faults, no path or title twice", () => {
    expect(countBy(faulty, ({ kind }) => kind).size).toBeGreaterThanOrEqual(40)
    expect(new Set(cases.map(({ title }) => title)).size).toBe(cases.length)
    expect(new Set(cases.map((one) => changedPaths(one)[0])).size).toBe(cases.length)
    for (const { name, expected } of faulty) {
      expect([name, expected.every(({ severity }) => severity !== undefined)]).toEqual([name, true])
    }
  })

  it("are compact", () => {
    for (const one of cases) {
      const lines = [...new Set([...one.before.keys(), ...one.after.keys()])].map((path) =>
        Math.max(...[one.before, one.after].map((side) => (side.get(path) ?? "").split("\n").length))
      )
      const total = lines.reduce((sum, count) => sum + count, 0)
      expect([one.name, total >= 4 && total <= 90, total]).toEqual([one.name, true, total])
    }
  })

  it("have labels on lines that git shows as added or removed", async () => {
    await Effect.gen(function* () {
      const ranges = yield* (yield* ScratchRepository).make(
        cases.map(({ before, after, title }) => ({ before, after, message: title }))
      )
      const unchanged: Array<string> = []
      for (const [index, one] of cases.entries()) {
        const { root, base, head } = ranges[index] ?? { root: "", base: "", head: "" }
        const parser = makeDiffParser()
        parser.push(execFileSync("git", ["-C", root, "diff", "--no-color", "--no-renames", base, head]))
        const files = parser.end()
        expect(files.map(({ path }) => path).toSorted()).toEqual(changedPaths(one).toSorted())
        const changed = new Set(
          files.flatMap(({ path, hunks }) =>
            hunks
              .flatMap(numberLines)
              .flatMap(({ kind, oldLine, newLine }) =>
                kind === " " ? [] : [kind === "+" ? `${path} new ${newLine}` : `${path} old ${oldLine}`]
              )
          )
        )
        for (const { file, side, first = 0, last = 0 } of [...one.expected, ...one.tolerated]) {
          const lines = Array.from({ length: last - first + 1 }, (_, offset) => `${file} ${side} ${first + offset}`)
          if (!lines.some((line) => changed.has(line))) unchanged.push(`${one.name}: ${lines[0]}`)
        }
        for (const { file } of one.needs) expect(changedPaths(one)).not.toContain(file)
      }
      expect(unchanged).toEqual([])
    }).pipe(Effect.scoped, Effect.provide(GitScratchRepository.layer), Effect.runPromise)
  }, 60_000)

  it("are valid in the languages that have a grammar", async () => {
    const folder = dirname(createRequire(import.meta.url).resolve("@vscode/tree-sitter-wasm"))
    await treeSitter.Parser.init()
    const others: Readonly<Record<string, string>> = { php: "php", rb: "ruby", sh: "bash" }
    const languages = new Map<string, treeSitter.Language>()
    let parsed = 0
    for (const one of cases) {
      for (const [path, text] of [...one.before, ...one.after]) {
        const name = findGrammar(path)?.name ?? others[path.slice(path.lastIndexOf(".") + 1)]
        if (name === undefined) continue
        const language =
          languages.get(name) ?? (await treeSitter.Language.load(join(folder, `tree-sitter-${name}.wasm`)))
        languages.set(name, language)
        const parser = new treeSitter.Parser()
        parser.setLanguage(language)
        const tree = parser.parse(text)
        expect([one.name, path, tree?.rootNode.hasError]).toEqual([one.name, path, false])
        tree?.delete()
        parser.delete()
        parsed++
      }
    }
    expect(parsed).toBeGreaterThanOrEqual(400)
  }, 60_000)
})
