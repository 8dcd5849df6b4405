/** What a program can check of docs/development/language.md: log messages, phrases in messages, names of exported types. */
import { readdirSync, readFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { join } from "node:path"
import { parse } from "acorn"
import type { CallExpression, Node } from "acorn"
import { ancestor } from "acorn-walk"
import { expect, it } from "vitest"

const root = join(import.meta.dirname, "../..")

const files = ["src", "actors", "nats"].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".ts"))
    .map((name) => `${folder}/${name}`)
)

interface Literal {
  readonly line: number
  /** As written, with its quotes. */
  readonly source: string
}

interface Parsed {
  readonly file: string
  readonly text: string
  readonly literals: ReadonlyArray<Literal>
  /** First arguments of log calls. */
  readonly logs: ReadonlyArray<Literal>
}

const isLog = ({ callee }: CallExpression): boolean =>
  callee.type === "MemberExpression" &&
  callee.object.type === "Identifier" &&
  callee.object.name === "Effect" &&
  callee.property.type === "Identifier" &&
  /^log[A-Z]/.test(callee.property.name)

const parseFile = (file: string): Parsed => {
  const text = readFileSync(join(root, file), "utf8")
  const code = stripTypeScriptTypes(text)
  const literals: Array<Literal> = []
  const logs: Array<Literal> = []
  const of = (node: Node): Literal => ({
    line: node.loc?.start.line ?? 0,
    source: code.slice(node.start, node.end)
  })
  ancestor(parse(code, { ecmaVersion: "latest", sourceType: "module", locations: true }), {
    Literal(node, _, ancestors) {
      const parent = ancestors.at(-2)
      if (typeof node.value === "string" && parent !== undefined && !/^(?:Import|Export)/.test(parent.type))
        literals.push(of(node))
    },
    TemplateLiteral: (node) => void literals.push(of(node)),
    CallExpression(node) {
      const [first] = node.arguments
      if (first !== undefined && isLog(node)) logs.push(of(first))
    }
  })
  return { file, text, literals, logs }
}

/** Folders that are not rewritten to these rules yet. */
const pending: ReadonlyArray<string> = []

const parsed = files.map(parseFile)

const wrong = (
  pick: (file: Parsed) => ReadonlyArray<Literal>,
  isWrong: (source: string) => boolean
): ReadonlyArray<string> =>
  parsed.flatMap((file) =>
    pick(file)
      .filter(({ source }) => isWrong(source) && !pending.some((folder) => file.file.startsWith(folder)))
      .map(({ line, source }) => `${file.file}:${line} ${source.slice(0, 120)}`)
  )

it("log messages are constant, begin in lower case and end without a period", () => {
  const names = /^"(?:[a-z]|NATS|VCS|Redis|Postgres|SQLite|SIGTERM)/
  expect(
    wrong(
      ({ logs }) => logs,
      (source) => !names.test(source) || /\.\.?"$/.test(source)
    )
  ).toEqual([])
})

/** Phrases of docs/development/language.md that are wrong wherever a person reads them. */
const phrases =
  /\b(?:answered|(?:does|did) not answer|(?:gave|has|got|is) no answer|no answer|is asked|be asked|was asked|is told|stands? (?:at|for|twice|in)|is away|are away|is back|anew|meanwhile|handed back|given back|whoever|wherever|by heart|is let in|let go|is taken (?:by|back)|goes together|takes back|in passing|left out|is no (?!longer|more|such)[a-zA-Z]+|there is no|does not know)\b|\bLeft out:/i

it("messages are free of idioms", () => {
  const isMessage = (source: string): boolean =>
    /[a-z]+ [a-z]+/i.test(source) && !/\b(?:SELECT|INSERT|UPDATE|DELETE|local )\b/.test(source)
  expect(
    wrong(
      ({ literals }) => literals,
      (source) => isMessage(source) && phrases.test(source)
    )
  ).toEqual([])
})

it("messages have no two periods in a row", () => {
  expect(
    wrong(
      ({ literals }) => literals,
      (source) => / /.test(source) && /[a-z)]\.\.(?!\.|\/)(?:["'`\s])/.test(source)
    )
  ).toEqual([])
})

it("names of exported types are unique", () => {
  const owners = new Map<string, Array<string>>()
  for (const { file, text } of parsed) {
    for (const [, name = ""] of text.matchAll(/^export (?:abstract )?(?:interface|type|class) (\w+)/gm)) {
      owners.set(name, [...(owners.get(name) ?? []), file])
    }
  }
  expect(
    [...owners]
      .filter(([, of]) => of.length > 1 && !of.some((file) => pending.some((folder) => file.startsWith(folder))))
      .map(([name, of]) => `${name}: ${of.join(", ")}`)
  ).toEqual([])
})
