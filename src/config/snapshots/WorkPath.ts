/**
 * Compiles `work_path`: a template for the directory of a source under the layout root. It supports `{{value}}` and the helpers `segment`,
 * `default`, `hash` and `lower`, nested in parentheses. For all names of a source the result is a relative path that stays under the root
 * and is valid on every file system, or an error.
 *
 * ```
 * {{workspace.id}}/{{segment source.repo_ref}}/{{default (lower source.branch) "head"}}-{{hash source.ref}}
 * ```
 */
import { Result } from "effect"
import { createHash } from "node:crypto"
import type { SourceFacts } from "../Snapshot.ts"
import type { Reason } from "../../domain/Reason.ts"

export interface WorkPathFacts {
  readonly workspace: string
  readonly trigger: string
  readonly source: SourceFacts
}

export type WorkPath = (facts: WorkPathFacts) => Result.Result<string, Reason>

type Expression =
  | { readonly _tag: "Text"; readonly text: string }
  | { readonly _tag: "Value"; readonly name: string }
  | { readonly _tag: "Call"; readonly helper: Helper; readonly args: ReadonlyArray<Expression> }

/** Template if work_path is not set. */
export const defaultWorkPath = "{{workspace.id}}"

const values = {
  "workspace.id": (facts: WorkPathFacts) => facts.workspace,
  "trigger.name": (facts: WorkPathFacts) => facts.trigger,
  "source.vcs": (facts: WorkPathFacts) => facts.source.vcs,
  "source.repo_ref": (facts: WorkPathFacts) => facts.source.repo_ref,
  "source.repository": (facts: WorkPathFacts) => facts.source.repository ?? facts.source.repo_ref.split("/").at(-1),
  "source.namespace": (facts: WorkPathFacts) =>
    facts.source.namespace ?? facts.source.repo_ref.split("/").slice(0, -1).join("/"),
  "source.project_key": (facts: WorkPathFacts) => facts.source.project_key,
  "source.branch": (facts: WorkPathFacts) => facts.source.branch,
  "source.ref": (facts: WorkPathFacts) => facts.source.ref
} as const satisfies Record<string, (facts: WorkPathFacts) => string | undefined>

const helpers = {
  /** One path segment: everything except letters, digits, dot, underscore and hyphen becomes a hyphen. */
  segment: { arity: [1, 1], run: ([value = ""]: ReadonlyArray<string>) => toSegment(value) },
  /** The second value if the first is empty. */
  default: { arity: [2, 2], run: ([value = "", other = ""]: ReadonlyArray<string>) => (value === "" ? other : value) },
  /** The first 12 hexadecimal digits of SHA-256. */
  hash: {
    arity: [1, 1],
    run: ([value = ""]: ReadonlyArray<string>) => createHash("sha256").update(value).digest("hex").slice(0, 12)
  },
  lower: { arity: [1, 1], run: ([value = ""]: ReadonlyArray<string>) => value.toLowerCase() }
} as const satisfies Record<
  string,
  { readonly arity: readonly [number, number]; readonly run: (args: ReadonlyArray<string>) => string }
>
type Helper = keyof typeof helpers

const isHelper = (name: string): name is Helper => Object.hasOwn(helpers, name)
const isValue = (name: string): name is keyof typeof values => Object.hasOwn(values, name)

const toSegment = (value: string): string => {
  const plain = trimmed(value.replace(/[^\p{L}\p{N}._-]+/gu, "-"))
  return plain === "" ? "" : devices.test(plain) ? `_${plain}` : plain
}

/** Removes dots and hyphens at both ends, in one pass, because outsiders choose branch names. */
const trimmed = (text: string): string => {
  const isEdge = (index: number) => text[index] === "." || text[index] === "-"
  let [start, end] = [0, text.length]
  while (start < end && isEdge(start)) start++
  while (end > start && isEdge(end - 1)) end--
  return text.slice(start, end)
}

const devices = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?$/i

/** Returns the compiled template, or an error. */
export const compileWorkPath = (template: string): Result.Result<WorkPath, Reason> => {
  const parsed = parse(template)
  if (Result.isFailure(parsed)) return Result.fail(parsed.failure)
  const parts = parsed.success
  const render: WorkPath = (facts) => checkPath(parts.map((part) => evaluate(part, facts)).join(""))
  const fixed = parts.map((part) => (part._tag === "Text" ? part.text : "x")).join("")
  return Result.map(
    Result.mapError(checkPath(fixed), (why): Reason => ({ _tag: "FixedPartInvalid", why })),
    () => render
  )
}

const evaluate = (expression: Expression, facts: WorkPathFacts): string => {
  switch (expression._tag) {
    case "Text":
      return expression.text
    case "Value":
      return isValue(expression.name) ? (values[expression.name](facts) ?? "") : ""
    case "Call":
      return helpers[expression.helper].run(expression.args.map((arg) => evaluate(arg, facts)))
  }
}

/** Fails with a reason. The type of a successful result is open. */
const fail = (reason: Reason): Result.Result<never, Reason> => Result.fail(reason)

const unpaired = (found: string, missing: string) => fail({ _tag: "Unpaired", found, missing })

const parse = (template: string): Result.Result<ReadonlyArray<Expression>, Reason> => {
  const parts: Array<Expression> = []
  for (const [index, piece] of template.split("{{").entries()) {
    if (index === 0) {
      if (piece.includes("}}")) return unpaired("}}", "{{")
      parts.push({ _tag: "Text", text: piece })
      continue
    }
    const end = piece.indexOf("}}")
    if (end < 0) return unpaired("{{", "}}")
    const text = piece.slice(end + 2)
    if (text.includes("}}")) return unpaired("}}", "{{")
    const expression = parseExpression(piece.slice(0, end))
    if (Result.isFailure(expression)) return Result.fail(expression.failure)
    parts.push(expression.success, { _tag: "Text", text })
  }
  return Result.succeed(parts)
}

const token = /\s*(?:([()])|"([^"{}]*)"|'([^'{}]*)'|([A-Za-z_][A-Za-z0-9_.]*))/y

const parseExpression = (source: string): Result.Result<Expression, Reason> => {
  const tokens: Array<{ readonly sign?: string; readonly text?: string; readonly word?: string }> = []
  token.lastIndex = 0
  while (source.slice(token.lastIndex).trim() !== "") {
    const at = token.lastIndex
    const found = token.exec(source)
    if (found === null) return fail({ _tag: "WordUnreadable", text: JSON.stringify(source.slice(at).trim()) })
    const [, sign, double, single, word] = found
    const text = double ?? single
    tokens.push(sign !== undefined ? { sign } : word !== undefined ? { word } : { text: text ?? "" })
  }
  if (tokens.length > 64) return fail({ _tag: "TooManyWords" })
  let next = 0
  const call = (closed: boolean): Result.Result<Expression, Reason> => {
    const head = tokens[next++]
    if (head === undefined) return fail({ _tag: "BracesEmpty" })
    if (head.word === undefined || !isHelper(head.word)) {
      next--
      const single = argument()
      if (Result.isFailure(single)) return single
      const after = tokens[next]
      if (after !== undefined && !(closed && after.sign === ")"))
        return fail({
          _tag: "HelperUnknown",
          name: JSON.stringify(head.word ?? head.text ?? head.sign),
          helpers: helperNames
        })
      return single
    }
    const args: Array<Expression> = []
    while (next < tokens.length && tokens[next]?.sign !== ")") {
      const arg = argument()
      if (Result.isFailure(arg)) return arg
      args.push(arg.success)
    }
    const [least, most] = helpers[head.word].arity
    if (args.length < least || args.length > most)
      return fail({ _tag: "HelperTakes", name: head.word, count: least, found: args.length })
    return Result.succeed({ _tag: "Call", helper: head.word, args })
  }
  const argument = (): Result.Result<Expression, Reason> => {
    const head = tokens[next++]
    if (head?.sign === "(") {
      const inner = call(true)
      if (Result.isFailure(inner)) return inner
      if (tokens[next++]?.sign !== ")") return unpaired("(", ")")
      return inner
    }
    if (head?.text !== undefined) return Result.succeed({ _tag: "Text", text: head.text })
    if (head?.word === undefined) return fail({ _tag: "ValueAbsent" })
    if (isHelper(head.word)) return fail({ _tag: "ParenthesesMissing", name: head.word })
    if (!isValue(head.word))
      return fail({ _tag: "ValueUnknown", name: JSON.stringify(head.word), values: Object.keys(values) })
    return Result.succeed({ _tag: "Value", name: head.word })
  }
  const result = call(false)
  if (Result.isSuccess(result) && next < tokens.length) return unpaired(")", "(")
  return result
}

const helperNames = Object.keys(helpers)

/** Returns a relative path with `/`, safe under any root on any file system, or an error. */
export const checkPath = (path: string): Result.Result<string, Reason> => {
  if (path === "") return fail({ _tag: "PathEmpty" })
  if (Buffer.byteLength(path) > 1024) return fail({ _tag: "PathTooLong" })
  if (path.startsWith("/") || /^[A-Za-z]:/.test(path)) return fail({ _tag: "PathAbsolute" })
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (/[\\:*?"<>|\u0000-\u001f\u007f]/.test(path)) return fail({ _tag: "PathCharacter" })
  if (!path.isWellFormed()) return fail({ _tag: "PathMalformed" })
  for (const segment of path.split("/")) {
    if (segment === "") return fail({ _tag: "SegmentEmpty" })
    if (segment === "." || segment === "..") return fail({ _tag: "SegmentOfDots" })
    if (/[. ]$/.test(segment) || segment.startsWith(" ")) return fail({ _tag: "SegmentEdge" })
    if (Buffer.byteLength(segment) > 255) return fail({ _tag: "SegmentTooLong" })
    if (devices.test(segment)) return fail({ _tag: "SegmentIsDevice" })
  }
  return Result.succeed(path)
}
