/** Checks what a program can check of docs/development/language.md: comments, declared names, log messages, phrases in messages. */
import { readdirSync, readFileSync } from "node:fs"
import { stripTypeScriptTypes } from "node:module"
import { join } from "node:path"
import { parse } from "acorn"
import type {
  BinaryExpression,
  CallExpression,
  ConditionalExpression,
  NewExpression,
  Node,
  ObjectExpression
} from "acorn"
import { ancestor } from "acorn-walk"
import { expect, it } from "vitest"
import { readSource } from "./SourceTokens.ts"
import type { Comment, DeclaredName, Title } from "./SourceTokens.ts"

const root = join(import.meta.dirname, "../..")

const list = (folders: ReadonlyArray<string>, names: RegExp): ReadonlyArray<string> =>
  folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
      .map((name) => `${folder}/${name}`)
      // A benchmark installs the packages that it compares with; the change of the demo is not part of this repository.
      .filter((path) => names.test(path) && !path.includes("node_modules/") && !path.startsWith("demo/change/"))
  )

const files = list(["actors", "demo", "eval", "nats", "src"], /\.ts$/)

interface Literal {
  readonly line: number
  /** The source of the literal, with its quotes. */
  readonly source: string
}

interface Parsed {
  readonly file: string
  readonly text: string
  readonly literals: ReadonlyArray<Literal>
  /** First arguments of log calls. */
  readonly logs: ReadonlyArray<Literal>
  /** Texts in the arguments of `new …Error(…)` and `new ExitWith(…)`, apart from those of calls in them. */
  readonly errors: ReadonlyArray<Literal>
}

/** A log of Effect, or the one form of log lines about failures (LimitedWarnings.ts). */
const isLog = ({ callee }: CallExpression): boolean =>
  (callee.type === "Identifier" && callee.name === "logFailure") ||
  (callee.type === "MemberExpression" &&
    callee.object.type === "Identifier" &&
    callee.object.name === "Effect" &&
    callee.property.type === "Identifier" &&
    /^log[A-Z]/.test(callee.property.name))

/** Returns the texts that an expression may have as its value or at its end. */
const endings = (node: Node): ReadonlyArray<Node> => {
  switch (node.type) {
    case "ConditionalExpression": {
      const { alternate, consequent } = node as ConditionalExpression
      return [...endings(consequent), ...endings(alternate)]
    }
    case "BinaryExpression":
      return endings((node as BinaryExpression).right)
    case "ObjectExpression":
      return (node as ObjectExpression).properties.flatMap((property) =>
        property.type === "Property" ? endings(property.value) : []
      )
    case "Literal":
    case "TemplateLiteral":
      return [node]
    default:
      return []
  }
}

const isError = ({ callee }: NewExpression): boolean =>
  callee.type === "Identifier" && /(?:Error|^ExitWith)$/.test(callee.name)

const parseFile = (file: string): Parsed => {
  const text = readFileSync(join(root, file), "utf8")
  const code = stripTypeScriptTypes(text)
  const literals: Array<Literal> = []
  const logs: Array<Literal> = []
  const errors: Array<Literal> = []
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
    },
    NewExpression(node) {
      if (isError(node)) errors.push(...node.arguments.flatMap(endings).map(of))
    }
  })
  return { file, text, literals, logs, errors }
}

const parsed = files.map(parseFile)

const wrong = (
  pick: (file: Parsed) => ReadonlyArray<Literal>,
  isWrong: (source: string) => boolean
): ReadonlyArray<string> =>
  parsed.flatMap((file) =>
    pick(file)
      .filter(({ source }) => isWrong(source))
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

/** Phrases of docs/development/language.md that are wrong in every text for people. */
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

/** Texts for pull requests and documents, which end their own sentences. */
const prose = /^src\/(?:config\/Reference|forge\/ReadArtifacts)/

it("messages of errors end without a period, and a sentence behind another message takes the period from it", () => {
  expect(
    wrong(
      ({ errors }) => errors,
      (source) => /[^.]\.["'`]$/.test(source)
    )
  ).toEqual([])
  // A message that comes from elsewhere may end in a period of its own.
  const joined = /\$\{(?!withoutPeriod\()[^{}]*(?:message|cause|why|said|reason)\b[^{}]*\}\.(?:[ `])/i
  expect(
    wrong(
      ({ file, literals }) => (prose.test(file) ? [] : literals),
      (source) => joined.test(source)
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
  expect([...owners].filter(([, of]) => of.length > 1).map(([name, of]) => `${name}: ${of.join(", ")}`)).toEqual([])
})

const sources = list(["actors", "demo", "eval", "nats", "src", "test"], /\.(?:ts|js|mjs)$/).map((file) => ({
  file,
  ...readSource(readFileSync(join(root, file), "utf8"))
}))

/** Words and phrases of the glossary that no comment needs. */
const idioms = new RegExp(
  `\\b(?:${[
    "anew|beside|besides|meanwhile|whoever|wherever|foreign|surviving",
    "stands|stood|asks|asked|tells|told|says|said|hears|heard",
    "answer|answers|answered",
    "nobody|somebody|anybody",
    "at once|by heart|in passing|in turn|as it is|as it was|what is there",
    "(?:given|handed|hands|gives|taken|takes) back|goes? together",
    "(?:is|are) (?:away|let in|let through|looked at|taken up)|(?:look|looks|looked) (?:at|again)|left out|let go",
    "comes? to know|knows?|does not know"
  ].join("|")})\\b`,
  "i"
)

/** Documents that readers of the repository do not have. */
const outside = /\b(?:decisions? (?:section )?\d|specification \d|the issue says|see the (?:issue|ticket))/i

/** Words that begin a fragment: prepositions, conjunctions and question words. */
const fragments =
  /^(?:Of|As|For|At|In|On|By|With|Without|From|To|Into|Within|Until|Since|Before|After|Between|Among|Per|Up|Under|Over|About|Against|Through|During|Besides|What|Why|Where|Which|Who|Whose|How|When|Whatever|Those|Not|So|And|But|Or|Because|Than)\b(?!-)/

/** Returns the first idiom outside of code. */
const findIdiom = (text: string): string | undefined => {
  const words = text.replace(/(?<!`)`[^`\n]+`/g, "``")
  return (idioms.exec(words) ?? outside.exec(words))?.[0]
}

/** Returns the prose of a comment without tags, and nothing for a directive. */
const withoutTags = (text: string): string =>
  /^(?:oxlint|eslint)-/.test(text) ? "" : text.replace(/^\s*@[^]*/m, "").trim()

const commentProblems = (comment: Comment): ReadonlyArray<string> => {
  const { isDoc } = comment
  const text = withoutTags(comment.text)
  if (text === "") return []
  const idiom = findIdiom(text)
  return [
    ...(idiom === undefined ? [] : [`uses "${idiom}"`]),
    ...(isDoc && !/^(?:[A-Z"`]|\d)/.test(text) ? ["begins in lower case"] : []),
    ...(isDoc && !/(?:[.?|]|```|\.\))$/.test(text) ? ["ends without a period"] : []),
    ...(isDoc && fragments.test(text) ? ["begins like a fragment"] : [])
  ]
}

const vague = new Set(["known", "found", "asked", "told", "most", "least"])

/** Parts of names that say nothing about what they name. */
const figurative = new Set(
  "told tells tell hear hears heard say says mend mended stands stood standing ground landed mine patience surviving beside anew meanwhile".split(
    " "
  )
)

/** Phrases of several parts that stand for a term that engineers search for. */
const figurativePhrases = /^takeOff|atRest|giveBack|handedBack|heldBack|leftOut/i

/** Fields of templates that users write. */
const templateFields = new Set(["leftOut", "left_out"])

const splitName = (name: string): ReadonlyArray<string> => name.split(/(?=[A-Z])|_/).map((part) => part.toLowerCase())

const nameProblems = ({ isExported, name }: DeclaredName): ReadonlyArray<string> => [
  ...splitName(name)
    .filter((part) => figurative.has(part))
    .map((part) => `uses "${part}"`),
  ...(isExported && vague.has(name) ? ["names nothing"] : []),
  ...(isExported && /[a-z]Of$/.test(name) ? ["is not a verb"] : [])
]

const identifierProblems = (name: string): ReadonlyArray<string> => [
  ...splitName(name.replace(/^#/, ""))
    .filter((part) => figurative.has(part))
    .map((part) => `uses "${part}"`),
  ...(figurativePhrases.test(name) && !templateFields.has(name) ? ["is a phrase of the glossary"] : [])
]

const titleProblems = ({ text }: Title): ReadonlyArray<string> => {
  const idiom = findIdiom(text)
  return idiom === undefined ? [] : [`uses "${idiom}"`]
}

const violations = <A extends { readonly line: number }>(
  pick: (source: (typeof sources)[number]) => ReadonlyArray<A>,
  check: (item: A) => ReadonlyArray<string>,
  show: (item: A) => string
): ReadonlyArray<string> =>
  sources.flatMap((source) =>
    pick(source).flatMap((item) =>
      check(item).map((problem) => `${source.file}:${item.line} ${problem}: ${show(item).slice(0, 120)}`)
    )
  )

it("comments use plain words, and doc comments are whole sentences", () => {
  expect(
    violations(
      ({ comments }) => comments,
      commentProblems,
      ({ text }) => text
    )
  ).toEqual([])
})

it("names of exports say what they name", () => {
  expect(
    violations(
      ({ names }) => names,
      nameProblems,
      ({ name }) => name
    )
  ).toEqual([])
})

it("identifiers of the sources use the words that engineers search for", () => {
  const problems = sources
    .filter(({ file }) => !file.startsWith("test/"))
    .flatMap(({ file, identifiers }) =>
      [...identifiers].flatMap(([name, line]) =>
        identifierProblems(name).map((why) => `${file}:${line} ${name}: ${why}`)
      )
    )
  expect(problems).toEqual([])
})

it.each([
  ["hasHeard", 1],
  ["#mine", 1],
  ["takeOff", 1],
  ["filesLeftOut", 1],
  ["leftOut", 0],
  ["sayings", 0],
  ["determine", 0],
  ["released", 0]
])("of %s, %i part is refused", (name, count) => expect(identifierProblems(name)).toHaveLength(count))

it("titles of tests use plain words", () => {
  expect(
    violations(
      ({ titles }) => titles,
      titleProblems,
      ({ text }) => text
    )
  ).toEqual([])
})
