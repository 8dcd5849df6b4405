/**
 * No code compares, splits or searches prose, and no reason has words of the service as its text: what it decides are tags
 * (src/domain/Reason.ts). What vendors write is matched in the files listed here.
 */
import { globSync, readFileSync } from "node:fs"
import { parseAst } from "rolldown/parseAst"
import { describe, expect, it } from "vitest"

interface Node {
  readonly type: string
  readonly start: number
  readonly [field: string]: unknown
}

const isNode = (value: unknown): value is Node =>
  typeof value === "object" && value !== null && "type" in value && "start" in value

/** Files that match the words of a vendor, of a program or of a person, whose codes do not tell enough. */
const vendors: ReadonlyArray<string> = [
  "nats/NatsError.ts",
  "src/config/document/YamlProblems.ts",
  "src/database/RedisClient.ts",
  "src/queue/journal/RedisLink.ts"
]

/** Files whose errors only `aicr review` prints, in its words. */
const localCommand = "src/vcs/perforce/P4Settings.ts"

const proseNames = new Set(["message", "notice", "reason", "rule", "why"])
const searches = new Set(["startsWith", "endsWith", "includes", "indexOf", "split", "match", "matchAll", "search"])
const matchers = new Set(["test", "exec"])

const nameOf = (node: unknown): string | undefined => {
  if (!isNode(node)) return undefined
  if (node.type === "Identifier") return String(node["name"])
  if (node.type === "MemberExpression") return nameOf(node["property"])
  if (node.type === "ChainExpression") return nameOf(node["expression"])
  return undefined
}

const isProse = (node: unknown): boolean => proseNames.has(nameOf(node) ?? "")

/** Texts are also what files and people contain: only their comparison with words is forbidden. */
const isText = (node: unknown): boolean => isProse(node) || nameOf(node) === "text"

/** A text of several words, or the beginning of one. */
const isSentence = (node: unknown): boolean =>
  isNode(node) &&
  ((node.type === "Literal" &&
    typeof node["value"] === "string" &&
    /^[^<]*[a-z]{2,}[ :;]|^[;:] ?$/.test(node["value"])) ||
    (node.type === "TemplateLiteral" && JSON.stringify(node["quasis"]).includes(" ")))

/** Words in the source, which a person, a host, a model or a program did not write. */
const isOwnWords = (node: unknown): boolean =>
  isNode(node) &&
  ((node.type === "Literal" && / /.test(String(node["value"]))) ||
    (node.type === "TemplateLiteral" && /"cooked":"[^"]*[a-z]{2}/i.test(JSON.stringify(node["quasis"]))))

const isPattern = (node: unknown): boolean => isNode(node) && node.type === "Literal" && "regex" in node

const isWord = (node: unknown): boolean =>
  isNode(node) && node.type === "Literal" && typeof node["value"] === "string" && /[\w:]/.test(node["value"])

/** Colons separate the parts of much that is no prose. */
const isSeparator = (node: unknown, searched: unknown): boolean =>
  isNode(node) && /^[;:] ?$/.test(String(node["value"])) && !isProse(searched)

const isError = (node: unknown): boolean => nameOf(node) === "message"

const isForbidden = (node: Node): boolean => {
  if (node.type === "BinaryExpression" && /^[!=]==$/.test(String(node["operator"]))) {
    const sides = [node["left"], node["right"]]
    return (sides.some(isText) && sides.some(isSentence)) || (sides.some(isError) && sides.some(isWord))
  }
  if (node.type !== "CallExpression" || !isNode(node["callee"])) return false
  const callee = node["callee"]
  const [argument] = Array.isArray(node["arguments"]) ? node["arguments"] : []
  if (nameOf(callee) === "verbatimReason") return isOwnWords(argument)
  if (callee.type !== "MemberExpression") return false
  const method = nameOf(callee["property"]) ?? ""
  if (matchers.has(method)) return isProse(argument)
  if (!searches.has(method)) return false
  const searched = callee["object"]
  if (isText(searched) && isSentence(argument) && !isSeparator(argument, searched)) return true
  return (isProse(searched) && isPattern(argument)) || (isError(searched) && isWord(argument))
}

const find = (code: string, lang: "ts" | "tsx" = "ts"): ReadonlyArray<string> => {
  const found: Array<string> = []
  const walk = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(walk)
    if (!isNode(value)) return
    if (isForbidden(value)) found.push(code.slice(value.start, Number(value["end"])).replaceAll(/\s+/g, " "))
    Object.values(value).forEach(walk)
  }
  walk(parseAst(code, { lang }))
  return found
}

describe("prose", () => {
  it("is not compared, split or searched", () => {
    const found = globSync(["src/**/*.{ts,tsx}", "{actors,demo,eval,nats}/**/*.ts"])
      .filter((file) => !vendors.includes(file) && file !== localCommand)
      .flatMap((file) => {
        const code = readFileSync(file, "utf8")
        return find(code, file.endsWith(".tsx") ? "tsx" : "ts").map((text) => `${file}: ${text}`)
      })
    expect(found).toEqual([])
  })

  it.each([
    ['const isLost = run.reason === "superseded by a newer review"', 1],
    ['const code = error.message.split(":")[0]', 1],
    ['const isLost = entry.reason?.startsWith("quarantined: ")', 1],
    ["const isOld = /no longer configured/.test(reason)", 1],
    ['const isFull = message.includes("full")', 1],
    ['const reason = verbatimReason("the disk is full")', 1],
    ["const reason = verbatimReason(`no ${file}`)", 1],
    ["const reason = verbatimReason(`${path}: ${error}`)", 0],
    ["const reason = verbatimReason(message)", 0],
    ['const isLost = run.reason?._tag === "ProcessLost"', 0],
    ['const isDown = error.reason === "unavailable"', 0]
  ])("is found in %s", (code, count) => {
    expect(find(code)).toHaveLength(count)
  })
})
