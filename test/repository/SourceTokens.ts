/** Reads TypeScript and JavaScript with the scanner of the compiler: comments and declared names, types included. */
import { SyntaxKind } from "typescript/unstable/ast"
import { createScanner } from "typescript/unstable/ast/scanner"

export interface Comment {
  readonly line: number
  readonly isDoc: boolean
  /** The prose without its delimiters. Consecutive line comments are one comment. */
  readonly text: string
}

export interface DeclaredName {
  readonly line: number
  readonly name: string
  readonly isExported: boolean
}

/** The title of a test or of a group of tests. */
export interface Title {
  readonly line: number
  /** The source of the literal, up to its first placeholder. */
  readonly text: string
}

export interface SourceTokens {
  readonly comments: ReadonlyArray<Comment>
  readonly names: ReadonlyArray<DeclaredName>
  /** Every identifier, with the line where it is first used: also of parameters, properties and methods. */
  readonly identifiers: ReadonlyMap<string, number>
  readonly titles: ReadonlyArray<Title>
}

interface Token {
  readonly kind: SyntaxKind
  readonly start: number
  readonly text: string
}

/** Tokens that end an expression, so that a slash after them divides. */
const operands: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.Identifier,
  SyntaxKind.PrivateIdentifier,
  SyntaxKind.NumericLiteral,
  SyntaxKind.BigIntLiteral,
  SyntaxKind.StringLiteral,
  SyntaxKind.NoSubstitutionTemplateLiteral,
  SyntaxKind.TemplateTail,
  SyntaxKind.RegularExpressionLiteral,
  SyntaxKind.CloseParenToken,
  SyntaxKind.CloseBracketToken,
  SyntaxKind.CloseBraceToken,
  SyntaxKind.ThisKeyword,
  SyntaxKind.TrueKeyword,
  SyntaxKind.FalseKeyword,
  SyntaxKind.NullKeyword
])

const isBlank = (kind: SyntaxKind): boolean => kind === SyntaxKind.WhitespaceTrivia || kind === SyntaxKind.NewLineTrivia

const isComment = (kind: SyntaxKind): boolean =>
  kind === SyntaxKind.SingleLineCommentTrivia || kind === SyntaxKind.MultiLineCommentTrivia

const scanAll = (source: string): ReadonlyArray<Token> => {
  const scanner = createScanner(false)
  scanner.setText(source)
  const tokens: Array<Token> = []
  const braces: Array<"block" | "template"> = []
  let previous: SyntaxKind = SyntaxKind.Unknown
  for (let kind = scanner.scan(); kind !== SyntaxKind.EndOfFile; kind = scanner.scan()) {
    if ((kind === SyntaxKind.SlashToken || kind === SyntaxKind.SlashEqualsToken) && !operands.has(previous)) {
      kind = scanner.reScanSlashToken()
    }
    if (kind === SyntaxKind.OpenBraceToken) braces.push("block")
    if (kind === SyntaxKind.TemplateHead) braces.push("template")
    if (kind === SyntaxKind.CloseBraceToken) {
      if (braces.at(-1) === "template") kind = scanner.reScanTemplateToken(false)
      if (kind !== SyntaxKind.TemplateMiddle) braces.pop()
    }
    tokens.push({ kind, start: scanner.getTokenStart(), text: scanner.getTokenText() })
    if (!isBlank(kind) && !isComment(kind)) previous = kind
  }
  return tokens
}

const prose = (text: string): string =>
  text
    .replace(/^\/\*+|^\/\/+|\*\/$/g, "")
    .replace(/\n[ \t]*\*/g, "\n")
    .trim()

const declarations = new Set(["const", "let", "function", "class", "interface", "type", "enum"])
const testFunctions = new Set(["it", "test", "describe", "each"])
const modifiers = new Set(["abstract", "async", "declare", "default"])

export const readSource = (source: string): SourceTokens => {
  const lineAt = makeLineAt(source)
  const tokens = scanAll(source).filter(({ kind }) => kind !== SyntaxKind.WhitespaceTrivia)
  const comments: Array<Comment> = []
  let joinable = false
  for (const [index, { kind, start, text }] of tokens.entries()) {
    if (!isComment(kind)) {
      joinable &&= kind === SyntaxKind.NewLineTrivia && tokens[index - 1]?.kind !== SyntaxKind.NewLineTrivia
      continue
    }
    const isLine = kind === SyntaxKind.SingleLineCommentTrivia
    const last = joinable && isLine ? comments.pop() : undefined
    comments.push(
      last === undefined
        ? { line: lineAt(start), isDoc: text.startsWith("/**"), text: prose(text) }
        : { ...last, text: `${last.text} ${prose(text)}` }
    )
    joinable = isLine
  }
  const code = tokens.filter((token) => !isBlank(token.kind) && !isComment(token.kind))
  return {
    comments,
    names: declaredNames(code, lineAt),
    identifiers: readIdentifiers(code, lineAt),
    titles: testTitles(code, lineAt)
  }
}

const readIdentifiers = (code: ReadonlyArray<Token>, lineAt: LineAt): ReadonlyMap<string, number> => {
  const found = new Map<string, number>()
  for (const { kind, start, text } of code) {
    const isName = kind === SyntaxKind.Identifier || kind === SyntaxKind.PrivateIdentifier
    if (isName && !found.has(text)) found.set(text, lineAt(start))
  }
  return found
}

const declaredNames = (code: ReadonlyArray<Token>, lineAt: LineAt): ReadonlyArray<DeclaredName> =>
  code.flatMap(({ kind, start, text }, index) => {
    const keyword = code[index - 1]?.text ?? ""
    if (kind !== SyntaxKind.Identifier || !declarations.has(keyword)) return []
    let before = index - 2
    while (modifiers.has(code[before]?.text ?? "")) before -= 1
    return [{ line: lineAt(start), name: text, isExported: code[before]?.text === "export" }]
  })

const literals: ReadonlySet<SyntaxKind> = new Set([
  SyntaxKind.StringLiteral,
  SyntaxKind.NoSubstitutionTemplateLiteral,
  SyntaxKind.TemplateHead
])

/** Methods of test functions whose call takes a title, or returns a function that takes it. */
const titledMethods = new Set(["effect", "live", "prop", "scoped"])
const curriedMethods = new Set(["each", "for", "runIf", "skipIf"])

/** Returns the index of the token before the bracket that the token at `end` closes. */
const beforeOpening = (code: ReadonlyArray<Token>, end: number, open: string, close: string): number => {
  let depth = 0
  for (let at = end; at >= 0; at--) {
    if (code[at]?.text === close) depth += 1
    if (code[at]?.text === open) depth -= 1
    if (depth === 0) return at - 1
  }
  return -1
}

/** Returns whether the call whose callee ends at this token takes a title: `it(`, `it.live(`, `it.each<A>([…])(`, `each(`. */
const takesTitle = (code: ReadonlyArray<Token>, end: number): boolean => {
  const isCurried = code[end]?.text === ")"
  let at = isCurried ? beforeOpening(code, end, "(", ")") : end
  if (isCurried && code[at]?.text === ">") at = beforeOpening(code, at, "<", ">")
  const name = code[at]?.text ?? ""
  if (isCurried) return curriedMethods.has(name)
  const owner = code[at - 1]?.text === "." ? code[at - 2]?.text : undefined
  return owner === undefined ? testFunctions.has(name) : testFunctions.has(owner) || titledMethods.has(name)
}

/** Titles of `it(…)`, `it.live(…)`, `it.each(…)(…)`, `describe(…)` and their kind. */
const testTitles = (code: ReadonlyArray<Token>, lineAt: LineAt): ReadonlyArray<Title> =>
  code.flatMap(({ kind, start, text }, index) =>
    literals.has(kind) && code[index - 1]?.text === "(" && takesTitle(code, index - 2)
      ? [{ line: lineAt(start), text }]
      : []
  )

type LineAt = (offset: number) => number

const makeLineAt = (source: string): LineAt => {
  const ends = [...source.matchAll(/\n/g)].map(({ index }) => index)
  return (offset) => {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ends[middle] ?? 0) < offset) low = middle + 1
      else high = middle
    }
    return low + 1
  }
}
