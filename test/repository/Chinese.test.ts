/** Texts in Chinese use the terms of docs/development/chinese.md. */
import { readFileSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { expect, it } from "vitest"

const root = join(import.meta.dirname, "../..")
const read = (file: string): string => readFileSync(join(root, file), "utf8")

const files = [
  ...readdirSync(join(root, "src/text/zh")).map((name) => `src/text/zh/${name}`),
  "src/chat/Texts.ts",
  "src/outputs/Labels.ts",
  "src/outputs/chat/NoticeKinds.ts"
]

interface Rule {
  readonly word: string
  readonly except: ReadonlyArray<string>
}

const readRules = (): ReadonlyArray<Rule> =>
  read("docs/development/chinese.md")
    .split("\n")
    .flatMap((line) => /^\|[^|]+\|[^|]+\|(?<wrong>[^|]+)\|$/.exec(line)?.groups?.["wrong"] ?? [])
    .flatMap((cell) => cell.split(", "))
    .map((item) => /^\s*(?<word>[^\s(]+)(?: \(except (?<except>[^)]+)\))?\s*$/u.exec(item)?.groups)
    .flatMap((groups) =>
      groups?.["word"] !== undefined && /\p{Script=Han}/u.test(groups["word"])
        ? [{ word: groups["word"], except: groups["except"]?.split(" ") ?? [] }]
        : []
    )

const findWrong = (text: string, rules: ReadonlyArray<Rule>): ReadonlyArray<string> =>
  rules.flatMap(({ except, word }) =>
    except.reduce((rest, allowed) => rest.replaceAll(allowed, ""), text).includes(word) ? [word] : []
  )

it("texts in Chinese have one word for one concept", () => {
  const rules = readRules()
  expect(rules.length).toBeGreaterThan(10)
  const wrong = files.flatMap((file) =>
    read(file)
      .split("\n")
      .flatMap((line, at) => findWrong(line, rules).map((word) => `${file}:${at + 1}: ${word}`))
  )
  expect(wrong).toEqual([])
})

it("every term is in the texts", () => {
  const texts = files.map(read).join("\n")
  const terms = read("docs/development/chinese.md")
    .split("\n")
    .flatMap((line) => /^\|[^|]+\|(?<write>[^|]+)\|[^|]*\|$/.exec(line)?.groups?.["write"] ?? [])
    .flatMap((cell) => cell.match(/\p{Script=Han}+/gu) ?? [])
  expect(terms.length).toBeGreaterThan(30)
  expect(terms.filter((term) => !texts.includes(term))).toEqual([])
})

it("a wrong word is found, and one that is excepted is not", () => {
  expect(findWrong("发送到主机", readRules())).toEqual(["主机"])
  expect(findWrong("主机名不符", readRules())).toEqual([])
})
